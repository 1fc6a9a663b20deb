import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import { measureLoop } from './loop.ts'
import { WARM_SHARE } from './workload.ts'

/** pg-boss: one `fetch` and one `complete` per job, without polling in between, in each of the lanes. */
interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: readonly object[]): Promise<unknown>
  fetch(name: string): Promise<readonly { readonly id: string }[]>
  complete(name: string, id: string): Promise<unknown>
  on(event: string, listener: (error: unknown) => void): unknown
}

const { values } = parseArgs({ options: { url: { type: 'string' }, operations: { type: 'string' }, lanes: { type: 'string' } } })
const operations = Number(values.operations ?? 1)
const lanes = Number(values.lanes ?? 1)
const warm = Math.ceil(operations * WARM_SHARE)
const QUEUE = 'bench'
const INSERTED_AT_ONCE = 1_000

const peer = await ensurePeer('pg-boss')
const loaded: unknown = await import(pathToFileURL(peer.resolve('pg-boss')).href)
if (!hasBoss(loaded)) throw new Error('pg-boss has no PgBoss')
const boss = new loaded.PgBoss({ connectionString: values.url, max: lanes, supervise: false, schedule: false })
boss.on('error', (error) => process.stderr.write(`${String(error)}\n`))
await boss.start()
await boss.createQueue(QUEUE)
for (let item = 0; item < operations + warm; item += INSERTED_AT_ONCE) {
  await boss.insert(
    QUEUE,
    Array.from({ length: Math.min(INSERTED_AT_ONCE, operations + warm - item) }, () => ({ data: {} })),
  )
}
await many(warm)
await measureLoop(operations, () => many(operations))
await boss.stop({ graceful: false })
process.exit(0)

async function many(count: number): Promise<void> {
  let left = count
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const [job] = await boss.fetch(QUEUE)
      if (job === undefined) throw new Error('nothing to claim')
      await boss.complete(QUEUE, job.id)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

function hasBoss(value: unknown): value is { PgBoss: new (options: object) => Boss } {
  return typeof value === 'object' && value !== null && 'PgBoss' in value && typeof value.PgBoss === 'function'
}
