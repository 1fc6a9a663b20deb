import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import { measureLoop } from './loop.ts'
import { WARM_SHARE } from './workload.ts'

/** graphile-worker with its default, unbatched way: each of the lanes gets one job, runs it and completes it. */
interface Runner {
  stop(): Promise<void>
}
interface Graphile {
  run(options: object): Promise<Runner>
  runMigrations(options: object): Promise<void>
  makeWorkerUtils(options: object): Promise<{ addJobs(jobs: readonly object[]): Promise<unknown>; release(): Promise<void> }>
  Logger: new (factory: () => () => void) => object
}

const { values } = parseArgs({ options: { url: { type: 'string' }, operations: { type: 'string' }, lanes: { type: 'string' } } })
const operations = Number(values.operations ?? 1)
const lanes = Number(values.lanes ?? 1)
const warm = Math.ceil(operations * WARM_SHARE)
const ADDED_AT_ONCE = 1_000

const peer = await ensurePeer('graphile-worker')
const loaded: unknown = await import(pathToFileURL(peer.resolve('graphile-worker')).href)
if (!isGraphile(loaded)) throw new Error('graphile-worker is not what it was')
const graphile = loaded
const logger = new graphile.Logger(() => () => undefined)
const connection = { connectionString: values.url, logger }
await graphile.runMigrations(connection)
await work(warm, (run) => run())
await work(operations, (run) => measureLoop(operations, run))
process.exit(0)

/** The clock runs from the start of the workers to the last job: they start with a full queue. */
async function work(count: number, timed: (run: () => Promise<void>) => Promise<void>): Promise<void> {
  const utils = await graphile.makeWorkerUtils(connection)
  for (let item = 0; item < count; item += ADDED_AT_ONCE) {
    await utils.addJobs(
      Array.from({ length: Math.min(ADDED_AT_ONCE, count - item) }, () => ({ identifier: 'bench', payload: {} })),
    )
  }
  await utils.release()
  let runner: Runner | undefined
  await timed(async () => {
    let done = 0
    const finished = Promise.withResolvers<void>()
    const bench = (): void => {
      done += 1
      if (done === count) finished.resolve()
    }
    runner = await graphile.run({
      ...connection,
      concurrency: lanes,
      maxPoolSize: lanes + 2,
      noHandleSignals: true,
      taskList: { bench },
    })
    await finished.promise
  })
  await runner?.stop()
}

function isGraphile(value: unknown): value is Graphile {
  return typeof value === 'object' && value !== null && 'run' in value && 'runMigrations' in value && 'Logger' in value
}
