import { setTimeout as wait } from 'node:timers/promises'
import {
  dialTunnel,
  type ExecProcess,
  type ExecSpec,
  type Executor,
  followProcess,
  openExecutor,
  type ProcessEnd,
} from '@parley/executor'
import { dialFrames, type FrameLink, type FrameSink } from '@parley/rpc/frame'
import { type Soak, type SoakOptions, Tally } from '../soak.ts'
import { ExecServerProcess, GatewayWithExecutor, Middle } from './executor-world.ts'
import { SeededRandom } from './random.ts'

const ROUNDS = 200
/** About 2 MiB of numbers, one a line: what is missing or comes twice shows at once. */
const LINES = 320_000
const EXPECTED = Buffer.from(Array.from({ length: LINES }, (_, at) => `${at + 1}\n`).join(''))
/** How long a text waits for one that follows it. */
const LATE_MS = 5
const LAG_BYTES = 10 * 1024 * 1024

const FAULTS = [
  'cut',
  'middle killed',
  'doubled',
  'reordered',
  'split',
  'delayed',
  'lag held',
  'lag dropped',
  'executor killed',
  'process killed',
  'gateway killed',
] as const
type Fault = (typeof FAULTS)[number]

/** Faults at random moments of a stream: every byte once and in order, or a clear word about where it ends. */
export const executorSoak: Soak = {
  name: 'executor',
  summary: 'a remote process while connection, middle, executor and process are cut, doubled, split, delayed and killed',
  needs: { programs: [], peers: [] },
  run: async (options) => {
    const tally = new Tally()
    const random = new SeededRandom(options.seed)
    await using made = new AsyncDisposableStack()
    const server = new ExecServerProcess()
    await server.start()
    made.defer(() => server.kill('SIGTERM'))
    const house = new GatewayWithExecutor()
    await house.open()
    made.defer(() => house.close())
    const ways: World['ways'] = { url: new Middle(() => server.port, random), name: new Middle(() => house.port, random) }
    for (const middle of Object.values(ways)) {
      await middle.open()
      made.defer(() => middle.close())
    }
    await rounds(options, { tally, random, server, house, ways })
    return tally.result()
  },
}

interface World {
  readonly tally: Tally
  readonly random: SeededRandom
  /** Reached by its URL. */
  readonly server: ExecServerProcess
  /** Reached by its name, through a gateway. */
  readonly house: GatewayWithExecutor
  readonly ways: { readonly url: Middle; readonly name: Middle }
}
type Way = keyof World['ways']

async function rounds(options: SoakOptions, world: World): Promise<void> {
  const count = Math.max(FAULTS.length, Math.round(ROUNDS * options.share))
  for (let round = 1; round <= count; round += 1) {
    // Each kind once before any comes by chance.
    const fault = FAULTS[round - 1] ?? world.random.pick(FAULTS)
    const way = fault === 'gateway killed' || world.random.next() < 0.5 ? 'name' : 'url'
    await oneRound(world, fault, way, round)
    world.tally.count(`rounds: ${fault}`)
    world.tally.count(`rounds by ${way}`)
    options.log(`round ${round} of ${count}: ${fault}, by ${way}`)
  }
}

async function oneRound(world: World, fault: Fault, way: Way, round: number): Promise<void> {
  const { random, tally, house } = world
  const middle = world.ways[way]
  middle.isSplitting = fault === 'split' || random.next() < 0.2
  middle.isDelaying = fault === 'delayed'
  const meddle = { isDoubling: fault === 'doubled', isReordering: fault === 'reordered' }
  const at = `127.0.0.1:${middle.port}`
  const dial = async (): Promise<FrameLink> => {
    const { token } = house
    const link = await (way === 'url'
      ? dialFrames({ url: `ws://${at}` })
      : dialTunnel(`http://${at}`, { executor: 'soak', token }))
    return meddled(link, meddle, random)
  }
  const executor = await openExecutor({ dial, clientName: 'soak' })
  const where = `round ${round} (${fault}, by ${way})`
  try {
    if (fault.startsWith('lag')) await lag(executor, fault, tally, where)
    else await stream(world, executor, { fault, way, where })
  } catch (error) {
    tally.problem(`${where}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    await executor.close()
  }
}

const spec = (script: string, more: Partial<ExecSpec> = {}): ExecSpec => ({
  processId: 'soak',
  argv: ['/bin/sh', '-c', script],
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  tty: false,
  pipeStdin: true,
  onFull: 'hold',
  retainBytes: 128 * 1024,
  ...more,
})

/** A stream of numbers, and faults while it comes. */
async function stream(
  { tally, random, server, house, ways }: World,
  executor: Executor,
  { fault, way, where }: { readonly fault: Fault; readonly way: Way; readonly where: string },
): Promise<void> {
  const middle = ways[way]
  const process = await executor.start(spec(`echo $$ >&2; exec seq 1 ${LINES}`))
  const followed = follow(process)
  const faults = fault === 'cut' ? random.between(2, 6) : 1
  for (let at = 0; at < faults; at += 1) {
    await wait(random.between(0, 60))
    if (fault === 'cut') middle.cut()
    else if (fault === 'middle killed') {
      await middle.close()
      await wait(random.between(0, 100))
      await middle.open()
    } else if (fault === 'gateway killed') {
      await house.killGateway()
      await house.startGateway()
    } else if (fault === 'executor killed') await (way === 'url' ? server.kill('SIGKILL') : house.killExecutor())
    else if (fault === 'process killed') await process.terminate({ force: true })
  }
  if (fault === 'executor killed') await (way === 'url' ? server.start() : house.startExecutor())
  const end = await followed.ended
  tally.count('bytes', followed.state.bytes)
  tally.expect(followed.state.isRight, `${where}: byte ${followed.state.bytes} is wrong`)
  const isWhole = followed.state.bytes === EXPECTED.length
  if (fault === 'executor killed')
    tally.expect(end.kind === 'failed' || isWhole, `${where}: ended as ${end.kind} after ${followed.state.bytes} bytes`)
  else
    tally.expect(
      end.kind === 'closed' && (isWhole || fault === 'process killed'),
      `${where}: ended as ${end.kind} after ${followed.state.bytes} bytes`,
    )
}

/** A reader that comes when 10 MiB were said: held, it gets all of it; dropped, it is told. */
async function lag(executor: Executor, fault: Fault, tally: Tally, where: string): Promise<void> {
  const isHeld = fault === 'lag held'
  const process = await executor.start(spec(`exec head -c ${LAG_BYTES} /dev/zero`, isHeld ? {} : { onFull: 'drop' }))
  if (!isHeld) await process.ended
  let bytes = 0
  const end = await new Promise<ProcessEnd>((ended) => {
    followProcess(process, { output: (chunk) => (bytes += chunk.bytes.length), lagged: () => undefined, ended })
  })
  tally.count('bytes', bytes)
  if (isHeld) tally.expect(end.kind === 'closed' && bytes === LAG_BYTES, `${where}: ${end.kind} after ${bytes} bytes`)
  else tally.expect(end.kind === 'gap', `${where}: ended as ${end.kind}, and the loss was not said`)
}

function follow(process: ExecProcess) {
  const state = { bytes: 0, isRight: true }
  const ended = new Promise<ProcessEnd>((resolve) => {
    followProcess(process, {
      output: ({ stream: name, bytes }) => {
        if (name !== 'stdout') return
        state.isRight &&= EXPECTED.subarray(state.bytes, state.bytes + bytes.length).equals(bytes)
        state.bytes += bytes.length
      },
      lagged: () => undefined,
      ended: resolve,
    })
  })
  return { state, ended }
}

/** Output that comes twice, or after what follows it. None is lost: no wire that we have does that without ending. */
function meddled(
  link: FrameLink,
  how: { readonly isDoubling: boolean; readonly isReordering: boolean },
  random: SeededRandom,
): FrameLink {
  const late: (() => void)[] = []
  const pass = (isOutput: boolean, hand: () => void): void => {
    if (isOutput && how.isReordering && random.next() < 0.1) {
      late.push(hand)
      // It comes in the end, also when nothing follows.
      setTimeout(() => late.splice(0).forEach((each) => each()), LATE_MS)
      return
    }
    hand()
    if (isOutput && how.isDoubling && random.next() < 0.3) hand()
    for (const each of late.splice(0)) each()
  }
  return {
    open: (sink: FrameSink) =>
      link.open({
        ...sink,
        text: (text) => pass(text.includes('process/output'), () => sink.text(text)),
        bytes: (parts) => pass(true, () => sink.bytes?.(parts)),
      }),
    sendBytes: (parts) => link.sendBytes?.(parts),
    send: (text) => link.send(text),
    bufferedBytes: () => link.bufferedBytes(),
    drained: (belowBytes) => link.drained(belowBytes),
    close: (reason) => link.close(reason),
  }
}
