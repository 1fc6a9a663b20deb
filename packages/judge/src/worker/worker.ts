import { setTimeout as sleep } from 'node:timers/promises'
import { type Connect, PATIENCE, SYSTEM_CLOCK, SteadyClient, judgeControl, logLine } from '@parley/client'
import { JUDGE_HOLDS_MAX, type JudgeFacts, ToolError, type ToolOutput, messageOf, within } from '@parley/protocol'
import { WireError } from '@parley/rpc'
import type { Tester } from '../tester.ts'
import type { Generator } from './generator.ts'
import { type Claim, HeldJob } from './held-job.ts'
import { InputCache } from './input-cache.ts'
import type { Log } from './log.ts'
import { runJob } from './run-job.ts'
import { type TryLock, openWorkFolder } from './work-folder.ts'
import { WORKER_LIMITS, type WorkerLimits } from './worker-limits.ts'

export interface WorkerOptions {
  readonly connect: Connect
  readonly tester: Tester
  /** Left out: jobs that need one fail with `engine_missing`. */
  readonly generator?: Generator
  readonly machineId: string
  /** What people are to call it. Left out: the gateway says, by the name of its token. */
  readonly name?: string
  /** What this judge tells about itself; `slots` is how many jobs it works on at once, not counting guests (`guestsOf`). */
  readonly facts: Omit<JudgeFacts, 'running' | 'guests'>
  /** Ours and that of other judges of this machine: inputs are cached in it, jobs unpacked. */
  readonly workFolder: string
  readonly tryLock: TryLock
  readonly log: Log
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  readonly limits?: Partial<WorkerLimits>
  /** Gives up waiting for the first connection. */
  readonly signal?: AbortSignal
}

/** A judge at work. */
export interface Worker {
  /** Jobs held now. */
  readonly running: number
  /** Takes no more; settles when what it holds is done. */
  drain(): Promise<void>
  /** Drains, after `graceMs` gives back what is not done, and lets go of everything. A shorter grace may follow a longer. */
  stop(graceMs: number): Promise<void>
}

const NAME_BYTES = 8

/** How many jobs a judge takes when its slots are full, each of an owner of whom it holds nothing: no one person can fill it. */
export const guestsOf = (slots: number): number => Math.min(slots, JUDGE_HOLDS_MAX - slots)

/** Connects to a gateway and works on its jobs until it is stopped. Throws when the gateway refuses the token. */
export async function openWorker(options: WorkerOptions): Promise<Worker> {
  const { tester, machineId, facts, log, now, random } = options
  let judgeName = options.name ?? machineId
  const limits = { ...WORKER_LIMITS, ...options.limits }
  const held = new Map<string, HeldJob>()
  const guests = guestsOf(facts.slots)
  /** Until a gateway says otherwise: one of an earlier version refuses to be told what we hold. */
  let knowsGuests = true
  /** Jobs that are given back and kept among those held for a moment. */
  let resting = 0
  const draining = new AbortController()
  const forced = new AbortController()
  const link = new SteadyClient({
    connect: options.connect,
    patience: PATIENCE.worker,
    limits,
    random: () => (random(1)[0] ?? 0) / 256,
    clock: SYSTEM_CLOCK,
    tell: (word) => {
      const line = logLine(judgeName, word)
      if (line !== undefined) log(line.level, line.message)
    },
  })
  link.follow({
    connected: () => {
      knowsGuests = true
      wake()
      for (const job of held.values()) job.reconnected()
    },
    notified: (method, params) => {
      const control = judgeControl(method, params)
      if (control?.action === 'cancel') held.get(control.claimId)?.stop('cancel')
    },
  })
  const name = Buffer.from(random(NAME_BYTES)).toString('hex')
  const work = await openWorkFolder(options.workFolder, name, options.tryLock, { limits, now, log })
  const cache = new InputCache({ folder: work.cache, limitBytes: limits.cacheBytes, now, owner: name })
  /** By job: one whose claim was lost may come again before we have heard of the loss. */
  const underWay = new Map<string, Promise<void>>()
  let changed = Promise.withResolvers<void>()
  const wake = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const take = (claim: Claim): void => {
    const earlier = underWay.get(claim.jobId)
    for (const other of held.values()) if (other.claim.jobId === claim.jobId) other.stop('lost')
    const job = new HeldJob(claim, { link, limits })
    held.set(claim.claimId, job)
    if (forced.signal.aborted) job.stop('unfinished')
    // Two runs of one job would get in each other's way: what the first left unsaid, the second sends.
    const judge = () =>
      runJob({
        job,
        tester,
        generator: options.generator,
        cache,
        work,
        limits,
        now,
        log,
        judgeName,
        sandbox: facts.sandbox,
      })
    const judged = earlier === undefined ? judge() : earlier.then(judge)
    const running: Promise<void> = judged.then(async (end) => {
      // A judge that cannot do anything for this job must not take it again in the next moment, for ever.
      if (end === 'broken' || end === 'unsupported') {
        resting += 1
        await sleep(limits.claimPauseMs, undefined, { signal: forced.signal }).catch(() => {})
        resting -= 1
      }
      held.delete(claim.claimId)
      if (underWay.get(claim.jobId) === running) underWay.delete(claim.jobId)
      wake()
    })
    underWay.set(claim.jobId, running)
  }

  const isFull = (): boolean => held.size >= facts.slots
  const takesGuests = (): boolean => knowsGuests && resting === 0 && held.size < facts.slots + guests

  const ask = async (): Promise<void> => {
    const askedAt = performance.now()
    const answer = await link.call(
      'judge.claim_next',
      {
        machine_id: machineId,
        ...(options.name === undefined ? {} : { name: options.name }),
        wait_ms: limits.claimWaitMs,
        facts: { ...facts, guests, running: held.size },
        // While we wait, the gateway sees which of these end: it knows what there is a place for when it finds a job.
        ...(isFull()
          ? { holding: [...held.values()].map(({ claim }) => ({ job_id: claim.jobId, claim_id: claim.claimId })) }
          : {}),
      },
      { signal: draining.signal, timeoutMs: limits.claimWaitMs + limits.callMs },
    )
    judgeName = answer.name ?? judgeName
    const claim = claimOf(answer, limits.leaseMinMs)
    if (claim !== undefined && held.has(claim.claimId))
      throw new WireError('bad_message', 'judge.claim_next gave the same claim twice')
    if (claim !== undefined) return take(claim)
    // A gateway holds the call for as long as there is nothing to do; one that does not must not be asked in a circle.
    const tookMs = performance.now() - askedAt
    const pauseMs = Math.min(limits.claimWaitMs, answer.drain ? limits.drainPollMs : limits.claimPauseMs) - tookMs
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: draining.signal })
  }

  const loop = async (): Promise<void> => {
    while (!draining.signal.aborted) {
      const asksAsFull = isFull()
      if (asksAsFull && !takesGuests()) {
        await changed.promise
        continue
      }
      try {
        await ask()
      } catch (error) {
        if (draining.signal.aborted) return
        if (asksAsFull && error instanceof ToolError && error.code === 'invalid_argument') {
          knowsGuests = false
          log('info', `this gateway knows of no guests, so none are taken: ${error.message}`)
          continue
        }
        log('error', `asking for work failed: ${messageOf(error)}`)
        await sleep(limits.claimPauseMs, undefined, { signal: draining.signal }).catch(() => {})
      }
    }
  }

  let looping: Promise<void>
  try {
    await cache.open()
    await link.ready(options.signal ?? new AbortController().signal)
    looping = loop()
  } catch (error) {
    await link.close()
    await work.close()
    throw error
  }

  const drain = async (): Promise<void> => {
    draining.abort()
    changed.resolve()
    await looping
    while (underWay.size > 0) await Promise.all(underWay.values())
  }

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const drained = drain()
    await Promise.race([drained, aborted(forced.signal)])
    // What was given back needs the gateway once more; a gateway that is away must not keep us.
    await within(drained, limits.returnMs)
    for (const job of held.values()) job.stop('lost')
    await link.close()
    await drained
    await work.close()
  }

  return {
    get running() {
      return held.size
    },
    drain,
    stop(graceMs) {
      const timer = setTimeout(() => {
        forced.abort()
        for (const job of held.values()) job.stop('unfinished')
      }, graceMs)
      closing ??= close()
      return closing.finally(() => clearTimeout(timer))
    },
  }
}

/** The claim in an answer, when there is one. */
function claimOf(answer: ToolOutput<'judge.claim_next'>, leaseMinMs: number): Claim | undefined {
  if (!answer.claimed) return undefined
  const { job_id: jobId, claim_id: claimId, claim, lease_ms: leaseMs, offsets } = answer
  const previous = answer.previous_claim_id === undefined ? {} : { previousClaimId: answer.previous_claim_id }
  return { jobId, claimId, claim, leaseMs: Math.max(leaseMs, leaseMinMs), offsets, ...previous }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
