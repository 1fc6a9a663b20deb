import { type ChildProcess, spawn } from 'node:child_process'
import { readlinkSync, rmSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { messageOf } from '@parley/protocol/wire'
import { containPrefix, deathSignalPrefix } from './child-prefix.ts'
import { findCommand } from './find-command.ts'
import { closeInherited } from './inherited.ts'
import { openKeeper } from './keeper.ts'
import { type GroupLeader, bornAt, signalGroup } from './process-group.ts'
import { type SpawnerEvent, type SpawnerOrder, lineSplitter, parseOrder } from './spawner-wire.ts'

/** After the owner is gone its children have seen the end of their input; they get this long before they are killed. */
const ORPHAN_GRACE_MS = 500

const STREAMS = 3

type StartOrder = Extract<SpawnerOrder, { op: 'start' }>

/** Starts processes for the owner at the other end of stdin, until that ends; then ends every process it started. */
export function runSpawner(socketFolder: string): void {
  closeInherited()
  const leaders = new Map<number, GroupLeader>()
  const wrapper = deathSignalPrefix()
  const keeper = openKeeper()
  let isEnding = false
  const send = (event: SpawnerEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`)

  const start = async (order: StartOrder): Promise<void> => {
    const found = findCommand(order.command, order.cwd, order.env['PATH'])
    if (found.kind === 'missing') return send({ event: 'failed', id: order.id, reason: found.reason, message: found.message })
    const contain = order.contained ? containPrefix(order) : []
    if (contain === undefined) return send({ event: 'failed', id: order.id, ...UNCONTAINED })
    // The owner tells stdin, stdout and stderr apart by their order, and a listener takes connections in the order in which they were begun.
    const sockets = Array.from({ length: STREAMS }, () => begin(order.socket))
    const streams: string[] = []
    try {
      await Promise.all(sockets.map(connected))
      // Those that are ended now are all there are.
      if (isEnding) throw new Error('its owner is gone')
      streams.push(...sockets.flatMap(inodeOf))
      // Before it is there: we may be killed before we know its number.
      keeper.begins(streams)
      const [command, ...args] = [...wrapper, ...contain, found.path, ...order.args]
      if (command === undefined) throw new TypeError('nothing to run')
      // `detached` gives the child a session and group of its own, which is what makes its offspring reachable.
      const child = spawn(command, args, { cwd: order.cwd, env: order.env, stdio: [...sockets], detached: true })
      watch(child, order)
    } catch (error) {
      send({ event: 'failed', id: order.id, ...reasonOf(error, order.command) })
    } finally {
      keeper.begun(streams)
      // The child has its own copies. Ours must go, or the end of the child would not be the end of the stream.
      for (const socket of sockets) socket.destroy()
    }
  }

  const watch = (child: ChildProcess, order: StartOrder): void => {
    const { pid } = child
    child.on('error', (error) => {
      if (pid === undefined) send({ event: 'failed', id: order.id, ...reasonOf(error, order.command) })
    })
    if (pid === undefined) return
    const leader = { pid, bornAt: bornAt(pid) }
    leaders.set(order.id, leader)
    keeper.add(leader)
    child.on('exit', (code, signal) => {
      // What is left of the group lost its leader: nobody else could end it later.
      if (!order.groupOutlivesLeader) sweep(order.id)
      send({ event: 'exited', id: order.id, code, signal })
    })
    send({ event: 'started', id: order.id, pid, bornAt: leader.bornAt })
  }

  const sweep = (id: number): void => {
    const leader = leaders.get(id)
    if (leader === undefined) return
    leaders.delete(id)
    signalGroup(leader, 'SIGKILL')
    keeper.remove(leader)
  }

  const end = (): void => {
    isEnding = true
    for (const leader of leaders.values()) signalGroup(leader, 'SIGTERM')
    setTimeout(
      () => {
        for (const leader of leaders.values()) signalGroup(leader, 'SIGKILL')
        rmSync(socketFolder, { recursive: true, force: true })
        void keeper.end().then(() => process.exit(0))
      },
      leaders.size === 0 ? 0 : ORPHAN_GRACE_MS,
    )
  }

  const take = lineSplitter((line) => {
    const order = parseOrder(line)
    if (order.op === 'start') return void start(order)
    if (order.op === 'sweep') return sweep(order.id)
    const leader = leaders.get(order.id)
    if (leader !== undefined) signalGroup(leader, order.signal)
  })
  process.stdin.on('data', (chunk: Buffer) => {
    if (!take(chunk)) end()
  })
  process.stdin.on('end', end)
  process.stdin.on('error', end)
  // The owner is gone and will be noticed by the end of stdin; until then there is nobody to tell.
  process.stdout.on('error', () => {})
  // Its owner ends it, by the end of stdin. What is sent to every process of a service must not take its children from an owner
  // that is about to end them in order.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  send({ event: 'ready' })
}

/** Connects without reading: what the owner sends is for the child alone. */
function begin(path: string): Socket {
  const socket = connect(path)
  socket.pause()
  return socket
}

/** The number by which the system shows a socket to whoever looks for who holds it; none where there is no /proc. */
function inodeOf(socket: Socket): string[] {
  // Node tells the descriptor of a socket in no other way.
  const handle: unknown = Reflect.get(socket, '_handle')
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined
  if (typeof fd !== 'number' || fd < 0) return []
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).match(/\d+/) ?? []
  } catch {
    return []
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', resolve)
  })
}

const UNCONTAINED = { reason: 'EPERM', message: 'contained: this system gives us no PID namespace (unshare --pid fails)' }

function reasonOf(error: unknown, command: string): { reason: string; message: string } {
  const reason = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN'
  return { reason, message: `cannot run ${command}: ${messageOf(error)}` }
}
