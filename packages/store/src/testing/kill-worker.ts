/**
 * Writes to a store as fast as it can and prints a line for everything that was acknowledged, until it is killed.
 * Arguments: url, round.
 */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { NO_TOKENS } from '@parley/protocol'
import { LeaseLost } from '../errors.ts'
import { openStore } from '../open-store.ts'
import type { Acknowledged } from './acknowledged.ts'
import { KILLED_CLAIM } from './check-usages.ts'
import { endJob, sampleCall, startedJob, tryClaim } from './sample-job.ts'

const [url = '', round = ''] = process.argv.slice(2)
/** Short, so that what the dead held is soon for the taking. */
const TTL_MS = 300
const JOB_TTL_MS = 1_000

const NO_LIMITS = { since: 0, ownerTokens: null, ownerMicrousd: null, jobTokens: null, jobMicrousd: null }

const acknowledge = (what: Acknowledged): void => void writeSync(1, `${JSON.stringify(what)}\n`)
/** SQLite answers without a pause; this lets the other writers have theirs. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const store = await openStore({ url })
await Promise.all([append('one'), append('one'), append(`round ${round}`), work(), upload(), audit(), jobs(), usage()])

async function append(log: string): Promise<void> {
  const writer = Math.random().toString(36).slice(2)
  for (let index = 0; ; index += 1) {
    await pause()
    const entry = `${round}/${writer}/${index}`
    const { kind } = await store.logs.append(log, [Buffer.from(entry), Buffer.from(`${entry};`)])
    if (kind === 'appended') acknowledge({ kind: 'append', log, entry })
    else throw new Error(`an append was answered with ${kind}`)
  }
}

async function work(): Promise<void> {
  for (let index = 0; ; index += 1) {
    await pause()
    const key = `${round}-${index}`
    await store.leases.offer('items', key)
    acknowledge({ kind: 'offer', key })
    if (index % 3 === 0) continue
    const lease = await store.leases.claim('items', round, { ttlMs: TTL_MS })
    if (lease === undefined) continue
    acknowledge({ kind: 'claim', key: lease.key, fence: lease.fence })
    if (index % 3 === 1) continue
    await store.leases.complete(lease)
    acknowledge({ kind: 'complete', key: lease.key })
  }
}

async function upload(): Promise<void> {
  for (let index = 0; ; index += 1) {
    await pause()
    const bytes = Buffer.from(`${round}/${index}/`.repeat(50))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const id = await store.blobs.begin('owner')
    await store.blobs.write(id, 'owner', 0, bytes.subarray(0, 100))
    await store.blobs.write(id, 'owner', 100, bytes.subarray(100))
    await store.blobs.commit(id, 'owner', { sha256, holder: 'test' })
    acknowledge({ kind: 'blob', sha256 })
  }
}

async function audit(): Promise<void> {
  for (let index = 0; ; index += 1) {
    await pause()
    const action = `${round}/${index}`
    await store.audit.append([
      { at: Date.now(), actor: 'worker', role: 'user', action, target: null, outcome: 'ok', code: null, remote: null },
    ])
    acknowledge({ kind: 'audit', action })
  }
}

/** Every third job is left to the next, as by a judge that dies. */
async function jobs(): Promise<void> {
  for (let index = 0; ; index += 1) {
    await pause()
    const { id } = await startedJob(store)
    acknowledge({ kind: 'job', id })
    await judge(index % 3 !== 2).catch((error: unknown) => {
      // On a slow machine a lease may run out at work; then another has the job.
      if (!(error instanceof LeaseLost)) throw error
    })
  }
}

async function judge(ends: boolean): Promise<void> {
  const key = await tryClaim(store, round, JOB_TTL_MS)
  if (key === undefined) return
  await store.jobs.renew(key, JOB_TTL_MS)
  if (!ends) return
  await endJob(store, key, JOB_TTL_MS)
  acknowledge({ kind: 'end', id: key.jobId })
  await store.jobs.release(key, { countLoss: true })
}

/** Of four calls one is left to the next worker, one is told by a judge, and two are booked, one of them twice. */
async function usage(): Promise<void> {
  for (let index = 0; ; index += 1) {
    await pause()
    const call = `${round}/${index}`
    const tokens = { ...NO_TOKENS, input_tokens: index + 1 }
    if (index % 4 === 0) {
      await store.usages.add(sampleCall({ claimId: KILLED_CLAIM, callId: call, tokens }))
      acknowledge({ kind: 'book', call, tokens: index + 1 })
      continue
    }
    const reserved = await store.usages.reserve(sampleCall({ claimId: KILLED_CLAIM, callId: call }), NO_LIMITS)
    if (reserved.kind !== 'reserved') throw new Error(`a reservation was answered with ${reserved.kind}`)
    acknowledge({ kind: 'reserve', call })
    if (index % 4 === 1) continue
    for (let times = 1; times < index % 4; times += 1) {
      const isFirst = await store.usages.book(reserved.id, { tokens, costMicrousd: null, estimated: false })
      if (isFirst !== (times === 1)) throw new Error(`booking ${times} was answered with ${isFirst}`)
    }
    acknowledge({ kind: 'book', call, tokens: index + 1 })
  }
}
