import { randomBytes } from 'node:crypto'
import { JobId, type JobSpec, NO_TOKENS, type UserId, makeId } from '@parley/protocol'
import { type ClaimKey, JOB_QUEUE, type JobClaim, type JobInputs, type JobRecord, jobHolder, jobLog } from '../record/job/job.ts'
import type { Usages } from '../record/usage/usage.ts'
import type { Store } from '../store.ts'

const LIMITS = { maxLost: 3, keptMs: 60_000 }

export const newJobId = (): JobId => makeId(JobId, 'job', randomBytes)

/** Inputs that hold something in every field. */
export function sampleInputs(id: JobId, changes: Partial<JobInputs> = {}): JobInputs {
  return { spec: sampleSpec(id), blob: null, files: [], cases: [], ...changes }
}

/** Adds a job and starts it. */
export async function startedJob(store: Store, ownerId: UserId | null = null): Promise<JobRecord> {
  const id = newJobId()
  await store.jobs.add({ id, ownerId, inputs: sampleInputs(id) })
  const job = await store.jobs.start(id)
  if (job === undefined) throw new Error(`job ${id} is gone`)
  return job
}

/** Takes the next job as a gateway does: the lease, then the claim. */
export async function claimNext(
  store: Store,
  machineId: string,
  ttlMs: number,
): Promise<ClaimKey & { readonly claim: JobClaim }> {
  const taken = await tryClaim(store, machineId, ttlMs)
  if (taken === undefined) throw new Error('there is no job to claim')
  return taken
}

/** As `claimNext`; `undefined` when nothing waits, or what waited had ended. */
export async function tryClaim(
  store: Store,
  machineId: string,
  ttlMs: number,
): Promise<(ClaimKey & { readonly claim: JobClaim }) | undefined> {
  const lease = await store.leases.claim(JOB_QUEUE, machineId, { ttlMs })
  if (lease === undefined) return undefined
  const claimId = randomBytes(16).toString('hex')
  const taken = await store.jobs.claimed(lease, { id: claimId, machineId, ...LIMITS })
  if (taken?.kind !== 'claimed' || taken.job.claim === null) return undefined
  return { jobId: taken.job.id, claimId, claim: taken.job.claim }
}

/** Stores bytes for a job as a gateway does before it records them. */
export async function storeFor(store: Store, id: JobId, content: string) {
  return store.blobs.put(new TextEncoder().encode(content), jobHolder(id))
}

/** A call of a model for a job, to reserve or to add. */
export function sampleCall(changes: Partial<Parameters<Usages['add']>[0]> = {}): Parameters<Usages['add']>[0] {
  return {
    jobId: null,
    ownerId: null,
    claimId: 'c'.repeat(32),
    claim: 1,
    attempt: 1,
    callId: 'call',
    channel: 'main',
    model: 'm',
    threadId: null,
    tokens: { ...NO_TOKENS, input_tokens: 10, output_tokens: 5 },
    prices: null,
    costMicrousd: null,
    estimated: false,
    ...changes,
  }
}

/** Ends a job as a judge does: its log, its report, then its state. */
export async function endJob(store: Store, key: ClaimKey, ttlMs: number): Promise<void> {
  const { fence } = await store.jobs.renew(key, ttlMs)
  await store.jobs.patch(key, { status: 'running_test', attempt: 1 }, LIMITS.keptMs)
  await store.logs.append(jobLog(key.jobId, 'terminal'), [new TextEncoder().encode(key.claimId)], { fence })
  const report = await storeFor(store, key.jobId, `report of ${key.claimId}`)
  await store.jobs.putArtifacts(key, [{ name: 'report.json', attempt: 1, ...report }])
  await store.jobs.patch(key, { status: 'succeeded' }, LIMITS.keptMs)
}

function sampleSpec(id: JobId): JobSpec {
  return {
    schema_version: 'job.v1',
    job_id: id,
    owner_user_id: null,
    title: 'Sum',
    language: 'cpp',
    model: null,
    upstream_channel: null,
    engine: null,
    problem: { statement_md: '# Sum\n\nAdd two numbers \u0000\ud800' },
    seed: { current_code: 'int main() {}', current_code_cpp: 'int main() {}' },
    search_mode: 'disabled',
    reasoning_effort: 'medium',
    max_attempts: 3,
    budget: { tokens: null, microusd: null },
    limits: {
      time_limit_ms: 1_000,
      memory_limit_mb: 256,
      cpus: 1,
      pids_limit: 64,
      max_output_bytes_per_test: 1_000_000,
      max_terminal_log_bytes: 1_000_000,
    },
    compile: { cpp_std: 'c++20' },
    tests: {
      dir: 'tests',
      present: true,
      format: 'auto',
      compare: { mode: 'floats', tolerance: { absolute: 1e-9, relative: 1e-9 } },
      run_if_no_expected: true,
      checker: { language: 'cpp', source: 'int main() { return 0; }' },
      interactor: null,
      samples: ['one'],
    },
  }
}
