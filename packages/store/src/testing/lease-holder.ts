import { openStore } from '../open-store.ts'

// Holds a lease in the file that is named, says so, and after each line that it reads says how its time and its lease are.

const TTL_MS = 60_000
const [, , url = ''] = process.argv
const store = await openStore({ url })
await store.leases.offer('jobs', 'one')
const lease = await store.leases.claim('jobs', 'holder', { ttlMs: TTL_MS })
if (lease === undefined) throw new Error('there was nothing to claim')
const started = { wall: Date.now(), store: store.now() }
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`)
say({ held: true })
for await (const _line of process.stdin) {
  await store.ping()
  const isHeld = await store.leases.check(lease).then(
    () => true,
    () => false,
  )
  const taken = await store.leases.claim('jobs', 'other', { ttlMs: TTL_MS })
  say({ wallMs: Date.now() - started.wall, storeMs: store.now() - started.store, isHeld, isTaken: taken !== undefined })
}
await store.close()
