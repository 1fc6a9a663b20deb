import type { Socket } from 'node:net'
import { within } from '@parley/protocol/wire'
import { type GroupLeader, signalGroup } from './process-group.ts'
import { type GroupSignal, type ProcessExit, ProcessError, type RunningProcess } from './processes.ts'
import { keepTail } from './stderr-tail.ts'

/** What is kept of a child's stderr for whoever asks why it failed. */
const STDERR_TAIL_BYTES = 16 * 1024
/** SIGKILL works at once or, for a process stuck in the kernel, not at all. */
const KILL_WAIT_MS = 2_000
/** After the end of the group, output that somebody outside of it still holds open is given up after this. */
const DRAIN_MS = 1_000

export interface LocalProcessParts {
  readonly leader: GroupLeader
  readonly streams: { readonly stdin: Socket; readonly stdout: Socket; readonly stderr: Socket }
  readonly exited: Promise<ProcessExit>
  readonly signal: (signal: GroupSignal) => void
  /** Kills what is left of a group that outlived its leader. Left out: its end was the end of the group. */
  readonly sweep?: () => void
}

/** A process at the other end of three sockets. */
export function localProcess({ leader, streams, exited, signal, sweep }: LocalProcessParts): RunningProcess {
  const { stdin, stdout, stderr } = streams
  // Reading where nothing ever comes is how we learn that the child closed its input.
  stdin.resume()
  stdin.once('end', () => stdin.destroy())
  for (const stream of [stdout, stderr]) stream.once('end', () => stream.destroy())
  const stderrTail = keepTail(stderr, STDERR_TAIL_BYTES)
  const closed = allClosed([stdout, stderr], exited)
  const giveUpOutput = (): void => {
    const timer = setTimeout(() => {
      stdout.destroy()
      stderr.destroy()
    }, DRAIN_MS)
    timer.unref()
    void closed.then(() => clearTimeout(timer))
  }
  if (sweep === undefined)
    void exited.then(() => {
      stdin.destroy()
      giveUpSilent([stdout, stderr])
    })
  else
    void closed.then(() => {
      stdin.destroy()
      sweep()
    })

  const stop = async (graceMs: number): Promise<ProcessExit> => {
    stdin.end()
    const ended = (await endQuietly(graceMs)) ?? (await kill())
    sweep?.()
    giveUpOutput()
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
  return { pid: leader.pid, stdin, stdout, stderr, stderrTail, exited, closed, signal, stop }
}

/**
 * The group has ended, so its streams have, unless somebody who left the group holds them open. One that is read and says nothing for a
 * while is given up; one that nobody reads from may have something left.
 */
function giveUpSilent(streams: readonly Socket[]): void {
  const open = new Map(streams.filter(({ closed }) => !closed).map((stream) => [stream, stream.bytesRead]))
  if (open.size === 0) return
  setTimeout(() => {
    for (const [stream, bytes] of open) if (stream.readableFlowing === true && stream.bytesRead === bytes) stream.destroy()
    giveUpSilent(streams)
  }, DRAIN_MS).unref()
}

async function allClosed(streams: readonly Socket[], exited: Promise<ProcessExit>): Promise<void> {
  await Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.once('close', () => resolve()))))
  await exited
}
