import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'

/** Far beyond what a program takes: on a crowded machine it is late, not broken. */
const READY_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 30_000
const POLL_MS = 25
const KEPT_STDERR_CHARS = 8_000

/** A program that runs for a measurement or a test, with all its children in one process group. */
export interface Program {
  readonly pid: number
  /** The line that it printed when it was ready; undefined when readiness was a port. */
  readonly ready: Readonly<Record<string, unknown>>
  stderr(): string
  exited(): boolean
  kill(signal: NodeJS.Signals): void
  /** Waits until it has ended, by itself or by us. */
  ended(): Promise<void>
  stop(): Promise<void>
}

export interface ProgramOptions {
  /** The core it is pinned to. */
  readonly core?: number
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Ready when this port answers; otherwise when a JSON line comes on its standard output. */
  readonly port?: number
}

/** Starts a program and waits until it is ready. Throws with what it said on standard error when it is not. */
export async function startProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Program> {
  const [file, ...args] = options.core === undefined ? command : ['taskset', '-c', String(options.core), ...command]
  if (file === undefined) throw new Error('a program needs a command')
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const said = { text: '' }
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said.text = `${said.text}${chunk}`.slice(-KEPT_STDERR_CHARS)
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${file} could not be started`)
  try {
    const ready = options.port === undefined ? await firstLine(child) : await portOpen(child, options.port)
    return { ready, ...programOf(child, pid, said) }
  } catch (error) {
    killGroup(pid, 'SIGKILL')
    throw new Error(`${command.join(' ')} did not become ready: ${String(error)}\n${said.text}`, { cause: error })
  }
}

/** `kill -9` of the process alone, as the kernel would do it: whatever it started has to go by itself. */
export async function killAlone(program: Program | undefined): Promise<void> {
  if (program === undefined) return
  if (!program.exited()) process.kill(program.pid, 'SIGKILL')
  await program.ended()
}

function programOf(child: ChildProcess, pid: number, said: { text: string }): Omit<Program, 'ready'> {
  const exited = (): boolean => child.exitCode !== null || child.signalCode !== null
  const ended = async (): Promise<void> => {
    if (!exited()) await once(child, 'exit')
  }
  return {
    pid,
    stderr: () => said.text,
    exited,
    kill: (signal) => killGroup(pid, signal),
    ended,
    stop: async () => {
      if (!exited()) {
        killGroup(pid, 'SIGTERM')
        await Promise.race([ended(), wait(STOP_TIMEOUT_MS, undefined, { ref: false })])
      }
      // Children that outlived their parent are still in its group.
      killGroup(pid, 'SIGKILL')
      await ended()
    },
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // Everybody is gone already.
  }
}

async function firstLine(child: ChildProcess): Promise<Readonly<Record<string, unknown>>> {
  if (child.stdout === null) throw new Error('no standard output')
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    once(child, 'exit').then(() => undefined),
    wait(READY_TIMEOUT_MS, undefined, { ref: false }),
  ])
  // Whatever comes later is read and dropped, so that the program never blocks on a full pipe.
  child.stdout.resume()
  if (line === undefined) throw new Error('it ended or said nothing')
  const value: unknown = JSON.parse(line)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

async function portOpen(child: ChildProcess, port: number): Promise<Readonly<Record<string, unknown>>> {
  child.stdout?.resume()
  for (let waited = 0; waited < READY_TIMEOUT_MS; waited += POLL_MS) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    if (await answers(port)) return {}
    await wait(POLL_MS)
  }
  throw new Error(`port ${port} never answered`)
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
}

/** A port that was free a moment ago, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return address.port
}
