import { type JobListItem, JobState, type Waiting, isUnjudged, iso, isoOrNull, parseJson } from '@parley/protocol'
import type { JobRecord } from '@parley/store'

const NO_CONTAINERS: JobState['containers'] = { generate: null, test: null }

/** `state.json` of a job, for its owner and for its judge. A job that a judge holds waits for nothing. */
export function jobStateOf(job: JobRecord, waiting: Waiting | null = null): JobState {
  const { spec, claim } = job
  const { time_limit_ms, memory_limit_mb, ...more } = spec.limits
  return {
    schema_version: 'state.v1',
    job_id: job.id,
    owner_user_id: job.ownerId,
    owner: job.ownerName,
    title: spec.title,
    status: job.status,
    waiting,
    created_at: iso(job.createdAt),
    started_at: isoOrNull(job.startedAt),
    finished_at: isoOrNull(job.finishedAt),
    expires_at: isoOrNull(job.expiresAt),
    language: spec.language,
    model: spec.model,
    upstream_channel: spec.upstream_channel,
    engine: spec.engine,
    search_mode: spec.search_mode,
    reasoning_effort: spec.reasoning_effort,
    limits: { time_limit_ms, memory_limit_mb },
    resource_limits: { ...more, memory_limit_mb },
    containers: containersOf(job.containers),
    artifacts: artifactFlags(job.artifactNames),
    error: job.error,
    judge:
      claim === null
        ? null
        : { machine_id: claim.machineId, name: claim.judgeName, claimed_at: iso(claim.claimedAt), claim_id: claim.id },
    claims: job.claims,
    lost_claims: job.lostClaims,
    attempt: job.attempt,
    summary: job.summary,
    unjudged: isUnjudged(job),
    retry_of: job.retryOf,
  }
}

/** The part of the state that lists show. */
export function jobListItemOf(job: JobRecord, waiting: Waiting | null): JobListItem {
  const { job_id, owner_user_id, owner, title, status, language, model, ...state } = jobStateOf(job, waiting)
  const { created_at, started_at, finished_at, expires_at, error, summary, unjudged, retry_of } = state
  return {
    job_id,
    owner_user_id,
    owner,
    title,
    status,
    waiting,
    language,
    model,
    created_at,
    started_at,
    finished_at,
    expires_at,
    error,
    summary,
    unjudged,
    retry_of,
  }
}

function artifactFlags(names: readonly string[]): JobState['artifacts'] {
  return {
    main_cpp: names.includes('main.cpp'),
    solution_json: names.includes('solution.json'),
    report_json: names.includes('report.json'),
    names: [...names],
  }
}

function containersOf(text: string | null): JobState['containers'] {
  if (text === null) return NO_CONTAINERS
  return JobState.shape.containers.safeParse(parseJson(text)).data ?? NO_CONTAINERS
}
