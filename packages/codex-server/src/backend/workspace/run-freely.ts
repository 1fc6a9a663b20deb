import { type CommandOutcome, type CommandRequest, refusedCommand } from '@parley/agent'
import type { CodexProcess, ProgramCall } from '@parley/contracts'
import { messageOf } from '@parley/protocol/wire'

/** Starts a program in the environment of whoever may do anything. */
export type StartCommand = (call: Omit<ProgramCall, 'env'>) => Promise<CodexProcess>

type Output = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void

const GRACE_MS = 200

/** Runs a command that may do anything, and stops it when its time or the signal says so. */
export async function runFreely(
  request: CommandRequest,
  output: Output,
  signal: AbortSignal,
  start: StartCommand,
): Promise<CommandOutcome> {
  const [command = '', ...args] = request.argv
  if (command === '') return refusedCommand('argv: must begin with a program')
  const startedAt = performance.now()
  const running = await start({ command, args, cwd: request.folder }).catch((error: unknown) => reasonOf(error))
  if (typeof running === 'string') return refusedCommand(running)
  running.stdin.end()
  const streams = { stdout: new Kept(request.outputBytes), stderr: new Kept(request.outputBytes) }
  const ended = (['stdout', 'stderr'] as const).map((name) => {
    running[name].on('data', (bytes: Buffer) => {
      streams[name].add(bytes)
      output(name, bytes)
    })
    return new Promise<void>((resolve) => void running[name].once('close', resolve))
  })
  let timedOut = false
  const stop = (): void => void running.stop(0).catch(() => undefined)
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, request.timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const { code, signal: killed } = await running.exited
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  // A program that it left behind may hold the pipes: what it says later is not waited for.
  await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())])
  await running.stop(0).catch(() => undefined)
  const { stdout, stderr } = streams
  return {
    exitCode: timedOut ? null : code,
    signal: killed,
    timedOut,
    message: timedOut ? `ended: it took more than ${request.timeoutMs} ms` : null,
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    stdoutBytes: stdout.total,
    stderrBytes: stderr.total,
    durationMs: Math.round(performance.now() - startedAt),
  }
}

/** In the words that clients of old know. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'reason' in error && error.reason === 'ENOENT') return 'No such file or directory (os error 2)'
  return messageOf(error)
}

/** The first bytes of a stream, and how many there were. */
class Kept {
  readonly #limit: number
  readonly #parts: Buffer[] = []
  #length = 0
  total = 0

  constructor(limit: number) {
    this.#limit = limit
  }
  add(bytes: Buffer): void {
    this.total += bytes.length
    const part = bytes.subarray(0, Math.max(0, this.#limit - this.#length))
    this.#length += part.length
    if (part.length > 0) this.#parts.push(part)
  }
  bytes(): Uint8Array {
    return Buffer.concat(this.#parts)
  }
}
