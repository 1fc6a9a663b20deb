import type { RunProgram } from '@parley/codex'
import { capture } from '@parley/executor'
import { type LazyProcesses, wholeEnv } from './lazy-processes.ts'

/** Programs of our own choice, run as the user, with nothing in the environment that would turn git elsewhere. */
export function runPrograms(processes: LazyProcesses, env: Readonly<Record<string, string | undefined>>): RunProgram {
  const kept = Object.fromEntries(Object.entries(wholeEnv(env)).filter(([name]) => !name.startsWith('GIT_')))
  const quiet = { ...kept, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C.UTF-8' }
  return async ([command, ...args], { folder, timeoutMs, outputBytes }) => {
    const spec = { command, args, env: quiet, cwd: folder }
    const captured = await capture(await processes.open(), spec, { timeoutMs, maxBytes: outputBytes + 1 })
    if (captured.kind === 'timed-out') return captured
    const { stdout, stderr, exit } = captured
    if (Buffer.byteLength(stdout) > outputBytes) return { kind: 'too-much' }
    return { kind: 'ended', exitCode: exit.code, stdout, stderr }
  }
}
