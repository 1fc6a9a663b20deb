import { readFileSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import type { UserAgentFacts } from '../mcp/user-agent.ts'

/** What a user agent says of this machine, as Codex writes it: `Debian 12.0.0; x86_64`, `xterm`. */
export function agentFacts(env: Readonly<Record<string, string | undefined>>, product: string): UserAgentFacts {
  const machine = arch() === 'x64' ? 'x86_64' : arch()
  const terminal = env['TERM_PROGRAM'] || env['TERM'] || 'unknown'
  return { platform: `${systemName()}; ${machine}`, terminal: terminal.split('-')[0] ?? terminal, product }
}

function systemName(): string {
  if (platform() === 'darwin') return `Mac OS ${release()}`
  try {
    const text = readFileSync('/etc/os-release', 'utf8')
    const field = (name: string): string | undefined => new RegExp(`^${name}="?([^"\\n]+)"?$`, 'm').exec(text)?.[1]
    const name = field('NAME')?.split(' ')[0] ?? 'Linux'
    const [major = '0', minor = '0', patch = '0'] = (field('VERSION_ID') ?? '').split('.')
    return `${name} ${major || '0'}.${minor}.${patch}`
  } catch {
    return `${platform()} ${release()}`
  }
}
