import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Readable, Writable } from 'node:stream'
import { DEFAULT_CAPTURE_BYTES, signalName } from '../defaults.ts'
import type { RunOutcome, RunRequest, RunStatus } from '../sandbox.ts'
import { WITH_GIVEN_ALONE } from './closed-descriptors.ts'
import { readAccount } from './limits-shell.ts'
import { startClock } from './clock.ts'
import { bufferBytes } from './kernel-buffers.ts'
import { treeUsage } from './process-tree.ts'
import { captureStream } from './stream-capture.ts'

const WATCH_MS = 10
/** How long the end of the streams is waited for, in turns: in each of them we read, however late we come to it on a busy machine. */
const STREAMS_TURNS = 20
const STREAMS_TURN_MS = 25
const ACCOUNT_BYTES = 4096
const SIGNAL_BASE = 128
const MAX_SIGNAL = 64

/** A command to start, as the operating system takes it. */
export interface SpawnedCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/** A program that was started: its streams, to join it to another, and its end. */
export interface SpawnedRun {
  readonly stdin: Writable
  readonly stdout: Readable
  finish(partner?: Writable): Promise<{ readonly outcome: Omit<RunOutcome, 'kept'>; readonly endedAtMs: number }>
}

/** Starts a command in a process group of its own and watches over it from here. */
export function startRun(command: SpawnedCommand, request: RunRequest, signal?: AbortSignal): SpawnedRun {
  // Before anything else runs: who isolates a program stays beside it in its box, and what he holds could be opened by way of him.
  const [program, ...words] = [...WITH_GIVEN_ALONE, ...command.argv]
  const child = spawn(program, words, {
    cwd: command.cwd,
    env: command.environment,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  // Its time begins when it is there: a large process like ours takes long to make another.
  const started = performance.now()
  // From the start: on a busy machine it may have ended before anybody asks for its end.
  const exits = once(child, 'exit')
  const closes = once(child, 'close')
  for (const coming of [exits, closes]) coming.catch(() => undefined)
  const [stdin, stdout, stderr, account] = child.stdio
  if (stdin === null || stdout === null || stderr === null || account === null || account === undefined || !('on' in account))
    throw new TypeError('a run has four pipes')
  stdin.on('error', () => undefined)
  // A pipe from Node goes both ways; ours would keep it open.
  if ('end' in account) account.end()
  return {
    stdin,
    stdout,
    finish: async (partner) => {
      const { limits } = request
      const capture = request.captureBytes ?? { stdout: DEFAULT_CAPTURE_BYTES, stderr: DEFAULT_CAPTURE_BYTES }
      let why: RunStatus | null = null
      let peak = { cpuMs: 0, residentBytes: 0 }
      let said = ''
      let decidedMs: number | undefined
      const end = (reason: RunStatus): void => {
        why ??= reason
        decidedMs ??= performance.now()
        killTree(child)
      }
      const over = (): void => end('output-limit')
      const out = captureStream(
        stdout,
        { captureBytes: capture.stdout, limitBytes: limits.outputBytes },
        over,
        partner,
        (bytes) => request.onOutput?.('stdout', bytes),
      )
      const err = captureStream(
        stderr,
        { captureBytes: capture.stderr, limitBytes: limits.outputBytes },
        over,
        undefined,
        (bytes) => request.onOutput?.('stderr', bytes),
      )
      account.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-ACCOUNT_BYTES)
      })
      const clock = startClock(limits, { pid: child.pid ?? 0, started }, () => end('wall-limit'))
      const abort = (): void => end('signal')
      if (signal?.aborted === true) abort()
      signal?.addEventListener('abort', abort, { once: true })
      const watch = setInterval(() => {
        const used = treeUsage(child.pid ?? 0)
        peak = { cpuMs: Math.max(peak.cpuMs, used.cpuMs), residentBytes: Math.max(peak.residentBytes, used.residentBytes) }
        if (used.cpuMs > limits.cpuMs) end('cpu-limit')
        else if (used.residentBytes + bufferBytes(used.pids) > limits.memoryBytes) end('memory-limit')
        // The shell that sets the limits is there too.
        else if (used.tasks > limits.processes + OWN_TASKS) end('process-limit')
      }, WATCH_MS)
      const failed = await ended(child, exits, closes)
      clock.stop()
      clearInterval(watch)
      signal?.removeEventListener('abort', abort)
      const result = resultOf(child, said)
      const cpuMs = Math.max(result.cpuMs, why === null ? 0 : peak.cpuMs)
      if (why === null && cpuMs > limits.cpuMs) why = 'cpu-limit'
      const status: RunStatus =
        failed === null
          ? (why ?? (result.signal === null ? (result.exitCode === 0 ? 'ok' : 'nonzero') : 'signal'))
          : 'sandbox-error'
      const outcome = {
        status,
        exitCode: why === null && failed === null ? result.exitCode : null,
        signal: failed === null ? (why === null ? result.signal : 'SIGKILL') : null,
        cpuMs,
        // Who gets no processor takes long to die.
        wallMs: (decidedMs ?? performance.now()) - started,
        starvedMs: clock.starvedMs,
        memoryBytes: peak.residentBytes,
        stdout: out.output(),
        stderr: err.output(),
        message: failed,
      }
      return { outcome, endedAtMs: performance.now() }
    },
  }
}

/** The shell, and bubblewrap's two processes where it is used. */
const OWN_TASKS = 3

/** Feeds a run its input; a program that does not read it is not at fault. */
export function feed(stdin: Writable, input: RunRequest['stdin']): void {
  if (input?.kind === 'bytes') stdin.end(input.bytes)
  else if (input?.kind === 'file')
    createReadStream(input.path)
      .on('error', () => stdin.end())
      .pipe(stdin)
  else stdin.end()
}

/** Waits for the end of the program and of its streams. What has left its group may hold these open: it is not waited for. */
async function ended(child: ChildProcess, exits: Promise<unknown>, closes: Promise<unknown>): Promise<string | null> {
  try {
    await exits
  } catch (error) {
    return `the program cannot be started: ${String(error)}`
  }
  killTree(child)
  const isClosed = closes.then(() => true)
  for (let turn = 0; turn < STREAMS_TURNS; turn++)
    if (await Promise.race([isClosed, delay(STREAMS_TURN_MS, false, { ref: false })])) break
  for (const stream of child.stdio) if (stream !== null && stream !== undefined && 'destroy' in stream) stream.destroy()
  return null
}

/** A group's members can leave it; those that did are found by their parents while these live. */
function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return
  for (const pid of [...treeUsage(child.pid).pids, -child.pid]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }
}

function resultOf(child: ChildProcess, said: string): { exitCode: number | null; signal: string | null; cpuMs: number } {
  const account = readAccount(said)
  const code = account?.code ?? child.exitCode
  const number = code !== null && code > SIGNAL_BASE && code <= SIGNAL_BASE + MAX_SIGNAL ? code - SIGNAL_BASE : 0
  const signal = child.signalCode ?? (number > 0 ? signalName(number) : null)
  return { exitCode: signal === null ? code : null, signal, cpuMs: account?.cpuMs ?? 0 }
}
