import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore } from '../open-store.ts'
import type { Store } from '../store.ts'
import { type Acknowledged, parseAcknowledged } from './acknowledged.ts'
import { checkJobs } from './check-jobs.ts'
import { checkUsages } from './check-usages.ts'

const WORKER = fileURLToPath(new URL('kill-worker.ts', import.meta.url))
/** A worker is killed after so many acknowledgements, and up to so many milliseconds later. */
const MIN_ACKNOWLEDGED = 20
const MAX_ACKNOWLEDGED = 400
const MAX_DELAY_MS = 15
/** Longer than a worker's leases. */
const DRAIN_WAIT_MS = 2_000
const PAGE_BYTES = 1024 * 1024

export interface KillReport {
  readonly seed: number
  readonly kills: number
  readonly acknowledged: Readonly<Record<Acknowledged['kind'], number>>
  /** What was acknowledged and is not there, or is there twice. Empty is good. */
  readonly problems: readonly string[]
}

/** Lets a worker write to a fresh database and kills it without warning, round after round; then counts. */
export async function killRounds({
  url,
  rounds,
  seed,
}: {
  readonly url: string
  readonly rounds: number
  readonly seed: number
}): Promise<KillReport> {
  const random = mulberry(seed)
  const perRound: Acknowledged[][] = []
  for (let round = 0; round < rounds; round += 1) {
    const after = MIN_ACKNOWLEDGED + Math.floor(random() * (MAX_ACKNOWLEDGED - MIN_ACKNOWLEDGED))
    perRound.push(await runAndKill(url, round, after, random() * MAX_DELAY_MS))
  }
  const all = perRound.flat()
  const store = await openStore({ url })
  try {
    const problems = [
      ...(await checkLogs(store, all)),
      ...(await checkLeases(store, perRound)),
      ...(await checkBlobs(store, all)),
      ...(await checkAudit(store, all)),
      ...(await checkJobs(store, all)),
      ...(await checkUsages(store, all)),
    ]
    const count = (kind: Acknowledged['kind']) => all.filter((each) => each.kind === kind).length
    const acknowledged = {
      append: count('append'),
      offer: count('offer'),
      claim: count('claim'),
      complete: count('complete'),
      blob: count('blob'),
      audit: count('audit'),
      job: count('job'),
      end: count('end'),
      reserve: count('reserve'),
      book: count('book'),
    }
    return { seed, kills: rounds, acknowledged, problems }
  } finally {
    await store.close()
  }
}

async function runAndKill(url: string, round: number, after: number, delayMs: number): Promise<Acknowledged[]> {
  const worker = spawn(process.execPath, [WORKER, url, `${round}`], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => worker.once('close', (_, signal) => resolve(signal)))
  let complaint = ''
  worker.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint += chunk))
  const acknowledged: Acknowledged[] = []
  let killed = false
  // A job takes longest: without one there would be rounds in which none got to its end.
  let hasEnded = false
  for await (const line of createInterface({ input: worker.stdout })) {
    // A line that the kill cut off was not heard by anybody.
    if (!line.endsWith('}')) continue
    acknowledged.push(parseAcknowledged(line))
    hasEnded ||= acknowledged.at(-1)?.kind === 'end'
    if (killed || acknowledged.length < after || !hasEnded) continue
    killed = true
    void sleep(delayMs).then(() => worker.kill('SIGKILL'))
  }
  if ((await ended) !== 'SIGKILL') throw new Error(`the worker ended by itself: ${complaint}`)
  return acknowledged
}

async function checkLogs(store: Store, all: readonly Acknowledged[]): Promise<readonly string[]> {
  const appends = all.filter((each) => each.kind === 'append')
  const problems: string[] = []
  for (const log of new Set(appends.map((each) => each.log))) {
    const found = await readWords(store, log)
    const times = new Map<string, number>()
    for (const word of found) times.set(word, (times.get(word) ?? 0) + 1)
    for (const [word, count] of times) if (count > 1) problems.push(`${log}: ${word} is there ${count} times`)
    for (const { entry } of appends.filter((each) => each.log === log)) {
      if (!times.has(entry) || !times.has(`${entry};`)) problems.push(`${log}: ${entry} is lost`)
    }
    // Both entries of one append, or none.
    for (const word of times.keys())
      if (!word.endsWith(';') && !times.has(`${word};`)) problems.push(`${log}: ${word} is there by half`)
  }
  return problems
}

async function readWords(store: Store, log: string): Promise<readonly string[]> {
  const words: string[] = []
  for (let seq = 0; ;) {
    const page = await store.logs.read(log, { from: { seq }, maxBytes: PAGE_BYTES })
    if (page.entries.length === 0) return words
    words.push(...page.entries.map((entry) => Buffer.from(entry.bytes).toString()))
    seq = page.next.seq
  }
}

/** What was offered and not completed is claimable, once; what was completed is gone. A kill leaves one item in doubt. */
async function checkLeases(store: Store, perRound: readonly (readonly Acknowledged[])[]): Promise<readonly string[]> {
  const left = new Map<string, number>()
  for (;;) {
    const lease = await store.leases.claim('items', 'auditor', { ttlMs: 60 * 60_000, waitMs: DRAIN_WAIT_MS })
    if (lease === undefined) break
    left.set(lease.key, (left.get(lease.key) ?? 0) + 1)
  }
  const completed = new Set(perRound.flat().flatMap((each) => (each.kind === 'complete' ? [each.key] : [])))
  const inDoubt = new Set(perRound.flatMap((round) => lastClaimed(round)))
  const problems = [...left].filter(([, times]) => times > 1).map(([key]) => `${key} was claimed twice`)
  for (const key of completed) if (left.has(key)) problems.push(`${key} was completed and is back`)
  for (const each of perRound.flat()) {
    if (each.kind === 'offer' && !completed.has(each.key) && !inDoubt.has(each.key) && !left.has(each.key))
      problems.push(`${each.key} is lost`)
  }
  const fences = perRound.flat().flatMap((each) => (each.kind === 'claim' ? [`${each.key} ${each.fence}`] : []))
  if (new Set(fences).size !== fences.length) problems.push('a fence was given twice')
  return problems
}

function lastClaimed(round: readonly Acknowledged[]): readonly string[] {
  const last = round.findLast((each) => each.kind === 'claim')
  return last?.kind === 'claim' ? [last.key] : []
}

async function checkBlobs(store: Store, all: readonly Acknowledged[]): Promise<readonly string[]> {
  const problems: string[] = []
  for (const each of all) {
    if (each.kind !== 'blob') continue
    const isWhole = await store.blobs.verify(each.sha256).catch(() => false)
    if (!isWhole) problems.push(`blob ${each.sha256} is lost`)
  }
  return problems
}

async function checkAudit(store: Store, all: readonly Acknowledged[]): Promise<readonly string[]> {
  const actions = new Map<string, number>()
  let seq = 0
  const problems: string[] = []
  for (;;) {
    const page = await store.audit.after(seq, 1_000)
    if (page.length === 0) break
    for (const entry of page) {
      if (entry.seq !== seq + 1) problems.push(`the audit jumps from ${seq} to ${entry.seq}`)
      seq = entry.seq
      actions.set(entry.action, (actions.get(entry.action) ?? 0) + 1)
    }
  }
  for (const [action, times] of actions) if (times > 1) problems.push(`audit ${action} is there ${times} times`)
  for (const each of all) if (each.kind === 'audit' && !actions.has(each.action)) problems.push(`audit ${each.action} is lost`)
  return problems
}

/** A small generator, so that a seed repeats a run's moments. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
