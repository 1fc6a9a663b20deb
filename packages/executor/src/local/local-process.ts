import type { Socket } from 'node:net'
import { within } from '@parley/protocol/wire'
import { type GroupLeader, signalGroup } from './process-group.ts'
import { type ProcessExit, ProcessError, type RunningProcess } from './processes.ts'
import { keepTail } from './stderr-tail.ts'

/** What is kept of a child's stderr for whoever asks why it failed. */
const STDERR_TAIL_BYTES = 16 * 1024
/** SIGKILL works at once or, for a process stuck in the kernel, not at all. */
const KILL_WAIT_MS = 2_000
/** After a stop, output that somebody outside the group still holds open is given up after this. */
const DRAIN_MS = 1_000

export interface LocalProcessParts {
  readonly leader: GroupLeader
  readonly streams: { readonly stdin: Socket; readonly stdout: Socket; readonly stderr: Socket }
  readonly exited: Promise<ProcessExit>
  readonly signal: (signal: 'SIGTERM' | 'SIGKILL') => void
}

/** A process at the other end of three sockets. */
export function localProcess({ leader, streams, exited, signal }: LocalProcessParts): RunningProcess {
  const { stdin, stdout, stderr } = streams
  // Reading where nothing ever comes is how we learn that the child closed its input.
  stdin.resume()
  stdin.once('end', () => stdin.destroy())
  for (const stream of [stdout, stderr]) stream.once('end', () => stream.destroy())
  const stderrTail = keepTail(stderr, STDERR_TAIL_BYTES)
  void exited.then(() => stdin.destroy())

  const stop = async (graceMs: number): Promise<ProcessExit> => {
    stdin.end()
    const ended = (await endQuietly(graceMs)) ?? (await kill())
    setTimeout(() => {
      stdout.destroy()
      stderr.destroy()
    }, DRAIN_MS).unref()
    return ended
  }
  const endQuietly = async (graceMs: number): Promise<ProcessExit | undefined> => {
    if (graceMs <= 0) return undefined
    const ended = await within(exited, graceMs)
    if (ended !== undefined) return ended
    signal('SIGTERM')
    return within(exited, graceMs)
  }
  const kill = async (): Promise<ProcessExit> => {
    signal('SIGKILL')
    const ended = await within(exited, KILL_WAIT_MS)
    if (ended !== undefined) return ended
    // The spawner does not answer; a group can be killed without it.
    signalGroup(leader, 'SIGKILL')
    const late = await within(exited, KILL_WAIT_MS)
    if (late === undefined) throw new ProcessError('kill_failed', `process ${leader.pid} does not end, not even by SIGKILL`)
    return late
  }
  return { pid: leader.pid, stdin, stdout, stderr, stderrTail, exited, stop }
}
