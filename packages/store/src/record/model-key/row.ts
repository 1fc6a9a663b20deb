import { AgentId, Budget, JobId, PromptStatus, parseJson } from '@parley/protocol'
import { type Row, integer, integerOrNull, parsedOrNull, text, textOrNull, toJson } from '@parley/database'
import { checkName } from '../../limits.ts'
import { ownerOf, toSettings } from '../agent/row.ts'
import { toJob } from '../job/row.ts'
import type { AgentKeyRecord, FoundModelKey, JobKeyRecord, KeyTerms } from './model-key.ts'

/** The values of what may be asked, in the order of their columns. */
export function termValues({ hash, channel, model, budget }: KeyTerms): readonly [string, string, string, string] {
  checkName('hash', hash)
  checkName('channel', channel)
  checkName('model', model)
  return [hash, channel, model, toJson('budget', Budget, budget)]
}

/** What is kept of it: that is what a reader finds. */
export const readBudget = (column: string): Budget => Budget.parse(parseJson(column))

/** A key as `FIND` reads it, whose own columns begin with `key_`. */
export function toFound(row: Row): FoundModelKey {
  const key = toOwnKey(row, 'key_')
  const leaseExpiresAt = integerOrNull(row, 'lease_until')
  if ('jobId' in key) {
    const job = toJob(row)
    return { kind: 'job', key: { ...key, ownerId: job.ownerId }, job, leaseExpiresAt }
  }
  return {
    kind: 'agent',
    key: { ...key, ownerId: ownerOf({ owner_id: text(row, 'agent_owner') }) },
    budgets: toSettings({ settings: text(row, 'agent_settings') }).budgets,
    status: parsedOrNull(PromptStatus, textOrNull(row, 'prompt_status')),
    aborting: integerOrNull(row, 'prompt_aborted_at') !== null,
    leaseExpiresAt,
  }
}

/** What stands in its own row, whose columns may have names that begin with something. */
export function toOwnKey(row: Row, prefix = ''): Omit<JobKeyRecord, 'ownerId'> | Omit<AgentKeyRecord, 'ownerId'> {
  const terms = {
    hash: text(row, `${prefix}hash`),
    channel: text(row, `${prefix}channel`),
    model: text(row, `${prefix}model`),
    budget: readBudget(text(row, `${prefix}budget`)),
    createdAt: integer(row, `${prefix}created_at`),
  }
  const jobId = textOrNull(row, `${prefix}job_id`)
  if (jobId === null)
    return {
      ...terms,
      agentId: AgentId.parse(text(row, `${prefix}agent_id`)),
      fence: integer(row, `${prefix}fence`),
      prompt: integer(row, `${prefix}prompt`),
    }
  return {
    ...terms,
    jobId: JobId.parse(jobId),
    claimId: text(row, `${prefix}claim_id`),
    claim: integer(row, `${prefix}claim`),
    attempt: integer(row, `${prefix}attempt`),
  }
}
