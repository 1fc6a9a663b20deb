import { JobError, JobId, JobSpec, JobStatus, ReportSummary, TestCase, UserId, isJsonObject, parseJson } from '@parley/protocol'
import { type Row, flag, fromJson, integer, integerOrNull, parsedOrNull, text, textOrNull, toJson } from '@parley/database'
import type { InputFile, JobClaim, JobInputs, JobRecord } from './job.ts'

const { tests } = JobSpec.shape
const Outline = JobSpec.omit({ problem: true, seed: true }).extend({
  tests: tests.omit({ checker: true, interactor: true, samples: true }),
})
const Cases = TestCase.array()

export function toJob(row: Row): JobRecord {
  return {
    id: JobId.parse(text(row, 'id')),
    ownerId: parsedOrNull(UserId, textOrNull(row, 'owner_id')),
    ownerName: textOrNull(row, 'owner_name'),
    status: JobStatus.parse(text(row, 'status')),
    createdAt: integer(row, 'created_at'),
    startedAt: integerOrNull(row, 'started_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    spec: Outline.parse(parseJson(text(row, 'outline'))),
    claim: toClaim(row),
    claims: integer(row, 'claims'),
    lostClaims: integer(row, 'lost_claims'),
    attempt: integer(row, 'attempt'),
    error: fromJson(JobError, textOrNull(row, 'error')),
    summary: fromJson(ReportSummary, textOrNull(row, 'summary')),
    containers: textOrNull(row, 'containers'),
    artifactNames: toNames(text(row, 'artifact_names')),
    retryOf: parsedOrNull(JobId, textOrNull(row, 'retry_of')),
  }
}

export function toInputs(row: Row): JobInputs {
  return {
    spec: JobSpec.parse(parseJson(text(row, 'spec'))),
    blob: textOrNull(row, 'blob'),
    files: toFiles(text(row, 'files')),
    cases: Cases.parse(parseJson(text(row, 'cases'))),
  }
}

/** The inputs as columns, and the part that lists show. */
export function fromInputs({ spec, files, cases }: JobInputs) {
  return {
    outline: toJson('inputs.spec', Outline, spec),
    spec: toJson('inputs.spec', JobSpec, spec),
    files: JSON.stringify(files.map(({ path, offset, size, sha256 }) => ({ path, offset, size, sha256 }))),
    cases: toJson('inputs.cases', Cases, cases),
  }
}

export const errorColumn = (error: JobError | null): string | null => (error === null ? null : toJson('error', JobError, error))
export const summaryColumn = (summary: ReportSummary | null): string | null =>
  summary === null ? null : toJson('summary', ReportSummary, summary)

/** A claim that was given back uncounted has left its id alone. */
function toClaim(row: Row): JobClaim | null {
  const machineId = textOrNull(row, 'machine_id')
  if (machineId === null) return null
  return {
    id: text(row, 'claim_id'),
    fence: integer(row, 'fence'),
    machineId,
    // Claims of before judges had names.
    judgeName: textOrNull(row, 'judge_name') ?? machineId,
    claimedAt: integer(row, 'claimed_at'),
    begun: flag(row, 'begun'),
  }
}

function toNames(column: string): readonly string[] {
  const names = parseJson(column)
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

function toFiles(column: string): readonly InputFile[] {
  const files = parseJson(column)
  // Fewer than there are would be judged as if the others had never been handed in.
  if (!Array.isArray(files) || !files.every(isJsonObject)) throw new TypeError('what should be a list of files is none')
  return files.map((file) => ({
    path: text(file, 'path'),
    offset: integer(file, 'offset'),
    size: integer(file, 'size'),
    sha256: text(file, 'sha256'),
  }))
}
