import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { within } from '@parley/protocol/wire'
import { checkSpec } from './check-spec.ts'
import { localProcess } from './local-process.ts'
import { listenPrivately } from './private-socket.ts'
import { type GroupLeader, signalGroup } from './process-group.ts'
import {
  type GroupSignal,
  type ProcessExit,
  ProcessError,
  type Processes,
  type ProcessSpec,
  type RunningProcess,
} from './processes.ts'
import { type SpawnerLink, openSpawner } from './spawner-link.ts'
import type { SpawnerEvent } from './spawner-wire.ts'

export interface ProcessesOptions {
  /** How many may run at once. */
  readonly maxProcesses?: number
  /** Where the private sockets' folder is made. Keep it short: the system's bound on socket names is about 100 bytes. */
  readonly folder?: string
  readonly now?: () => number
}

const DEFAULT_MAX_PROCESSES = 256
const START_WAIT_MS = 20_000
/** A spawner that dies again and again is a broken machine; starting more of them would not mend it. */
const SPAWNER_STARTS = 5
const SPAWNER_STARTS_WINDOW_MS = 60_000

interface Entry {
  readonly groupOutlivesLeader: boolean
  readonly started: PromiseWithResolvers<GroupLeader>
  readonly exited: PromiseWithResolvers<ProcessExit>
  leader: GroupLeader | undefined
  running: RunningProcess | undefined
}

/** Opens the local way to run processes. The spawner itself starts with the first process. */
export async function openProcesses(options: ProcessesOptions = {}): Promise<Processes> {
  const { maxProcesses = DEFAULT_MAX_PROCESSES, now = Date.now } = options
  // mkdtemp makes it mode 700: nobody else can reach the sockets in it.
  const folder = await mkdtemp(join(options.folder ?? tmpdir(), 'parley-'))
  const entries = new Map<number, Entry>()
  const starts: number[] = []
  let spawner: Promise<SpawnerLink> | undefined
  let spawnerPid: number | undefined
  let closed = false
  let nextId = 1

  const onEvent = (event: SpawnerEvent): void => {
    const entry = event.event === 'ready' ? undefined : entries.get(event.id)
    if (entry === undefined) return
    if (event.event === 'started') {
      entry.leader = { pid: event.pid, bornAt: event.bornAt }
      entry.started.resolve(entry.leader)
    } else if (event.event === 'failed') {
      entry.started.reject(new ProcessError('spawn_failed', event.message, { reason: event.reason }))
    } else if (event.event === 'exited') {
      // One whose group lives on counts until that has ended too.
      if (!entry.groupOutlivesLeader) entries.delete(event.id)
      entry.exited.resolve({ code: event.code, signal: event.signal })
    }
  }

  /** The spawner died under us: what it started is ours to end, because nobody watches it any more. */
  const onSpawnerEnd = (): void => {
    spawner = undefined
    spawnerPid = undefined
    for (const [id, entry] of entries) {
      entries.delete(id)
      if (entry.leader !== undefined) signalGroup(entry.leader, 'SIGKILL')
      entry.started.reject(new ProcessError('spawner_failed', 'the process that starts others died; try again'))
      entry.exited.resolve({ code: null, signal: 'SIGKILL', lost: true })
    }
  }

  const ensureSpawner = (): Promise<SpawnerLink> => {
    if (spawner !== undefined) return spawner
    while (starts[0] !== undefined && starts[0] < now() - SPAWNER_STARTS_WINDOW_MS) starts.shift()
    if (starts.length >= SPAWNER_STARTS) {
      return Promise.reject(new ProcessError('spawner_failed', 'the process that starts others keeps dying; wait a minute'))
    }
    starts.push(now())
    spawner = openSpawner(folder, onEvent)
    spawner.then(
      (link) => {
        spawnerPid = link.pid
        void link.ended.then(onSpawnerEnd)
      },
      () => {
        spawner = undefined
      },
    )
    return spawner
  }

  const start = async (spec: ProcessSpec): Promise<RunningProcess> => {
    const whole = checkSpec(spec)
    if (closed) throw new ProcessError('closed', 'no more processes are started: we are shutting down')
    if (entries.size >= maxProcesses)
      throw new ProcessError('too_many_processes', `${maxProcesses} processes run already; no more are allowed`)
    const id = nextId++
    const entry: Entry = {
      groupOutlivesLeader: whole.groupOutlivesLeader,
      started: Promise.withResolvers(),
      exited: Promise.withResolvers(),
      leader: undefined,
      running: undefined,
    }
    entry.started.promise.catch(() => {})
    entries.set(id, entry)
    try {
      const link = await ensureSpawner()
      const socket = await listenPrivately(join(folder, String(id)), 3)
      try {
        link.order({ op: 'start', id, socket: socket.path, ...whole })
        const all = await within(Promise.all([entry.started.promise, socket.sockets]), START_WAIT_MS)
        if (all === undefined)
          throw new ProcessError('spawner_failed', `${spec.command} was not started in ${START_WAIT_MS / 1000} s`)
        const [leader, [stdin, stdout, stderr]] = all
        if (stdin === undefined || stdout === undefined || stderr === undefined) throw new TypeError('a stream is missing')
        const signal = (name: GroupSignal): void => link.order({ op: 'signal', id, signal: name })
        const sweep = (): void => {
          if (entries.delete(id)) link.order({ op: 'sweep', id })
        }
        entry.running = localProcess({
          leader,
          streams: { stdin, stdout, stderr },
          exited: entry.exited.promise,
          signal,
          ...(whole.groupOutlivesLeader ? { sweep } : {}),
        })
        return entry.running
      } catch (error) {
        socket.cancel()
        if (entry.leader !== undefined) link.order({ op: 'signal', id, signal: 'SIGKILL' })
        throw error
      }
    } catch (error) {
      entries.delete(id)
      throw error
    }
  }

  const close = async (graceMs: number): Promise<void> => {
    closed = true
    await Promise.allSettled([...entries.values()].map(async (entry) => entry.running?.stop(graceMs)))
    const link = await spawner?.catch(() => undefined)
    await link?.end()
    await rm(folder, { recursive: true, force: true })
  }

  return {
    start,
    close,
    count: () => entries.size,
    spawnerPid: () => spawnerPid,
    [Symbol.asyncDispose]: () => close(0),
  }
}
