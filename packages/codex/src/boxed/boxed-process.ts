import type { CodexProcess } from '@parley/contracts'

const STDERR_TAIL_CHARS = 16 * 1024

/** How a program in a box ended, as a sandbox says it. */
interface BoxedEnd {
  readonly status: string
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A program that runs in a box. */
export interface BoxedProgram extends Pick<CodexProcess, 'pid' | 'stdin' | 'stdout' | 'stderr'> {
  readonly ended: Promise<BoxedEnd>
  kill(): void
}

/** A program in a box, spoken to as the bridge speaks to a Codex. */
export function boxedProcess(program: BoxedProgram): CodexProcess {
  const { pid, stdin, stdout, stderr, ended } = program
  let tail = ''
  stderr.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-STDERR_TAIL_CHARS)
  })
  const exited = ended.then(endOf)
  return {
    pid,
    stdin,
    stdout,
    stderr,
    stderrTail: () => tail,
    exited,
    stop: async (graceMs) => {
      stdin.end()
      const timer = setTimeout(() => program.kill(), graceMs)
      const end = await exited
      clearTimeout(timer)
      return end
    },
  }
}

/** A limit of the box ends it like a signal. */
function endOf({ status, exitCode, signal }: BoxedEnd): { readonly code: number | null; readonly signal: string | null } {
  if (exitCode !== null && (status === 'ok' || status === 'nonzero')) return { code: exitCode, signal: null }
  return { code: null, signal: signal ?? status }
}
