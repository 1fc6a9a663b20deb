import { parseArgs } from 'node:util'
import { openStore, type Store } from '@parley/store'
import { measureLoop } from './loop.ts'
import { ENTRY_BYTES, WARM_SHARE } from './workload.ts'

/** Our store, through its interface: one append or one claim-and-complete after the other, in each of the lanes. */
const { values } = parseArgs({
  options: { url: { type: 'string' }, work: { type: 'string' }, operations: { type: 'string' }, lanes: { type: 'string' } },
})
const operations = Number(values.operations ?? 1)
const lanes = Number(values.lanes ?? 1)
const warm = Math.ceil(operations * WARM_SHARE)
const TTL_MS = 60_000
const CAP = 1_000_000_000
const OFFERS_AT_ONCE = 64

const store = await openStore({ url: values.url ?? '' })
if (values.work === 'append') await append(store)
else await claim(store)
await store.close()

async function append({ logs }: Store): Promise<void> {
  await logs.create('bench', { maxBytes: CAP, maxEntries: CAP })
  const bytes = new Uint8Array(ENTRY_BYTES).fill(120)
  let offset = 0
  const many = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 1) {
      const outcome = await logs.append('bench', [bytes], { at: { offset } })
      if (outcome.kind !== 'appended') throw new Error(`append answered ${outcome.kind}`)
      offset = outcome.offset
    }
  }
  await many(warm)
  await measureLoop(operations, () => many(operations))
}

async function claim({ leases }: Store): Promise<void> {
  for (let item = 0; item < operations + warm; item += OFFERS_AT_ONCE) {
    const keys = Array.from({ length: Math.min(OFFERS_AT_ONCE, operations + warm - item) }, (_, index) => `job-${item + index}`)
    await Promise.all(keys.map((key) => leases.offer('bench', key, { payload: '{}' })))
  }
  const many = async (count: number): Promise<void> => {
    let left = count
    const lane = async (name: string): Promise<void> => {
      while (left > 0) {
        left -= 1
        const lease = await leases.claim('bench', name, { ttlMs: TTL_MS })
        if (lease === undefined) throw new Error('nothing to claim')
        await leases.complete(lease)
      }
    }
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(`worker-${index}`)))
  }
  await many(warm)
  await measureLoop(operations, () => many(operations))
}
