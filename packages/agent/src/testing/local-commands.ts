import { spawn } from 'node:child_process'
import type { CommandOutcome, Commands } from '../commands.ts'

/** Real processes without a sandbox, for tests alone. An abort kills the whole group. */
export function openLocalCommands(): Commands {
  return {
    run: ({ argv, folder, timeoutMs, outputBytes }, output, signal) =>
      new Promise((resolve) => {
        const [program = '', ...args] = argv
        const startedAt = performance.now()
        const kept = { stdout: new Kept(outputBytes), stderr: new Kept(outputBytes) }
        let timedOut = false
        const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
        const kill = (): void => {
          try {
            if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
          } catch {
            // It ended by itself between the abort and us.
          }
        }
        const timer = setTimeout(() => {
          timedOut = true
          kill()
        }, timeoutMs)
        const end = (more: Pick<CommandOutcome, 'exitCode' | 'signal' | 'message'>): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', kill)
          const { stdout, stderr } = kept
          const bytes = { stdoutBytes: stdout.total, stderrBytes: stderr.total }
          const durationMs = Math.round(performance.now() - startedAt)
          resolve({ ...more, timedOut, stdout: stdout.bytes(), stderr: stderr.bytes(), ...bytes, durationMs })
        }
        for (const stream of ['stdout', 'stderr'] as const) {
          child[stream].on('data', (bytes: Buffer) => {
            kept[stream].add(bytes)
            output(stream, bytes)
          })
        }
        child.on('error', (error) => end({ exitCode: null, signal: null, message: error.message }))
        child.on('close', (exitCode, killed) => end({ exitCode, signal: killed, message: null }))
        if (signal.aborted) kill()
        else signal.addEventListener('abort', kill)
      }),
  }
}

/** The first bytes of a stream, and how many there were. */
class Kept {
  readonly #parts: Buffer[] = []
  readonly #limit: number
  #length = 0
  total = 0

  constructor(limit: number) {
    this.#limit = limit
  }
  add(bytes: Buffer): void {
    this.total += bytes.length
    const part = bytes.subarray(0, this.#limit - this.#length)
    this.#length += part.length
    if (part.length > 0) this.#parts.push(part)
  }
  bytes(): Uint8Array {
    return Buffer.concat(this.#parts)
  }
}
