import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Leftover, leftoversOf, RUN_VARIABLE } from './leftovers.ts'

const TETHER = join(import.meta.dirname, 'tether-main.ts')
/** How long a program may take to end once it was told to. */
const STOP_GRACE_MS = 5_000
/** Servers that watch whether their test is alive notice, end, and put away their files: on a busy machine that is most of a minute for a database. */
const LEFTOVER_GRACE_MS = 120_000
const LEFTOVER_POLL_MS = 100

export interface TetheredRun {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Where its output goes: our own, or a file that is open. */
  readonly output: 'inherit' | number
  readonly limitMs: number
  /** Ends it. */
  readonly signal: AbortSignal
  /** How long what it started may go on after it. */
  readonly graceMs?: number
}

export interface Ended {
  /** 0 when it ended well. */
  readonly status: number
  readonly by: 'itself' | 'time' | 'signal'
  /** What was still running a while after it had ended. It is not any more. */
  readonly left: readonly Leftover[]
}

/** Runs our Node with these arguments, with a limit of time. When it is over nothing of it runs, however it ended and even if we are killed. */
export async function runTethered(run: TetheredRun): Promise<Ended> {
  const runId = randomUUID()
  const child = spawn(process.execPath, [TETHER, process.execPath, ...run.args], {
    cwd: run.cwd,
    env: { ...run.env, [RUN_VARIABLE]: runId },
    stdio: ['pipe', run.output, run.output],
    detached: true,
  })
  await once(child, 'spawn')
  const { pid } = child
  if (pid === undefined) throw new TypeError('a process that runs has a number')
  const over = new AbortController()
  const exited = exitOf(child)
  const by = await Promise.race([
    exited.then(() => 'itself' as const),
    wait(run.limitMs, 'time' as const, { signal: over.signal }),
    aborted(run.signal, over.signal),
  ])
  over.abort()
  if (by !== 'itself') await stop(pid, exited)
  return { status: await exited, by, left: await clear(pid, runId, run.graceMs ?? LEFTOVER_GRACE_MS) }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => child.once('exit', (code) => resolve(code ?? 1)).once('error', reject))
}

async function aborted(signal: AbortSignal, over: AbortSignal): Promise<'signal'> {
  if (!signal.aborted) await once(signal, 'abort', { signal: over })
  return 'signal'
}

async function stop(group: number, exited: Promise<number>): Promise<void> {
  kill(-group, 'SIGTERM')
  await Promise.race([exited, wait(STOP_GRACE_MS, undefined, { ref: false })])
  kill(-group, 'SIGKILL')
}

/** Waits for what ends by itself and ends what does not. */
async function clear(group: number, runId: string, graceMs: number): Promise<readonly Leftover[]> {
  const deadline = performance.now() + graceMs
  let left = leftoversOf(group, runId)
  while (left.length > 0 && performance.now() < deadline) {
    await wait(LEFTOVER_POLL_MS)
    left = leftoversOf(group, runId)
  }
  for (const { pid } of left) kill(pid, 'SIGKILL')
  return left
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has gone meanwhile.
  }
}
