import type { Invocation } from '../command-line/command.ts'
import { ownVersion } from '../version.ts'

export async function version({ io, values }: Invocation): Promise<number> {
  const { platform, arch } = process
  const facts = { name: 'parley', version: ownVersion(), node: process.versions.node, platform, arch }
  io.out(
    values.has('json') ? `${JSON.stringify(facts)}\n` : `parley ${facts.version} (Node ${facts.node}, ${platform} ${arch})\n`,
  )
  return 0
}
