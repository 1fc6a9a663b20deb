import { AgentId, isEnd, policySubjectText } from '@parley/protocol'
import { type Queries, type Row, NotAStore, flag, integer, text, textOrNull } from '@parley/database'
import { AGENT_QUEUE } from '../record/agent/agent.ts'
import { isShown, toAgent, toMount, uriHash } from '../record/agent/row.ts'
import { toGrant } from '../record/grant/sql-grants.ts'
import { argumentsOf, resultOf, toBackgroundCall } from '../record/background-call/row.ts'
import { toChat, toMarker } from '../record/chat/row.ts'
import { namesIn, toApproval } from '../record/approval/row.ts'
import { toAllowance, toPolicy } from '../record/policy/row.ts'
import { subjectHash, toLoop, toNews } from '../record/news/row.ts'
import { toPrompt } from '../record/prompt/row.ts'
import { JOB_QUEUE } from '../record/job/job.ts'
import { toInputs, toJob } from '../record/job/row.ts'
import { brokenRule } from '../record/job/rules.ts'
import { besideJob } from '../record/job/statements.ts'
import { toAudit } from '../record/audit/sql-audit.ts'
import { toChannel, toModel } from '../record/channel/row.ts'
import { toJudge } from '../record/judge/row.ts'
import { toWorker } from '../record/worker/sql-workers.ts'
import { toOwnKey } from '../record/model-key/row.ts'
import { toToken } from '../record/token/sql-tokens.ts'
import { toUser } from '../record/user/row.ts'
import { toUsage } from '../record/usage/row.ts'
import { rowsOf } from './copy-rows.ts'
import { shown } from './check-values.ts'
import { TABLES, type Table } from './tables.ts'

/** What is wrong with a row that can be read all the same. */
interface Trouble {
  readonly column: string
  readonly words: string
}

/** Reads a row of one table as a gateway does, and throws where that would. */
interface Reader {
  /** Columns that are read beside those of the table. */
  readonly more?: string
  read(row: Row): Trouble | undefined
}

const readBy = (read: (row: Row) => unknown): Reader => ({
  read: (row) => {
    read(row)
    return undefined
  },
})

/** Of an agent that is active; those that are being deleted have neither tokens nor a lease. */
const ownerOfAgent = (id: string) => `SELECT owner_id FROM agents WHERE id = ${id} AND status = 'active'`

/** Of the token that made another; none that has been revoked has left one that still counts. */
const USER_OF_MAKER = `SELECT m.user_id FROM tokens m
  WHERE m.id = tokens.made_by AND (m.revoked_at IS NULL OR tokens.revoked_at IS NOT NULL)`

/**
 * How each table is read. Those that are not here hold what is never parsed: the types of their columns, which the schema
 * keeps, and references are all there is to them.
 */
export const READERS: ReadonlyMap<string, Reader> = new Map([
  ['users', readBy(toUser)],
  [
    'tokens',
    { more: `, (${ownerOfAgent('tokens.agent_id')}) AS agent_owner, (${USER_OF_MAKER}) AS maker_user`, read: readToken },
  ],
  ['audit_entries', readBy(toAudit)],
  [
    'leases',
    {
      more: `, CASE queue WHEN '${AGENT_QUEUE}' THEN (${ownerOfAgent('leases.key')})
        ELSE (SELECT coalesce(owner_id, '') FROM jobs WHERE id = leases.key) END AS owner`,
      read: readLease,
    },
  ],
  ['served_rounds', { read: readRound }],
  [
    'jobs',
    {
      more: `, ${besideJob('jobs').sqlite}, EXISTS (SELECT 1 FROM leases l WHERE l.queue = '${JOB_QUEUE}' AND l.key = jobs.id) AS has_lease,
        EXISTS (SELECT 1 FROM job_inputs i WHERE i.job_id = jobs.id) AS has_inputs`,
      read: readJob,
    },
  ],
  ['job_inputs', readBy(toInputs)],
  ['channels', readBy(toChannel)],
  ['models', readBy(toModel)],
  ['model_keys', readBy(toOwnKey)],
  ['usage', readBy(toUsage)],
  ['judges', readBy(toJudge)],
  ['workers', readBy(toWorker)],
  [
    'agents',
    {
      // What was reported is read whoever holds the agent.
      more: ', (SELECT username FROM users WHERE id = agents.owner_id) AS owner_name, 0 AS mount_count, 1 AS is_reported',
      ...readBy(toAgent),
    },
  ],
  ['mounts', { read: readMount }],
  ['subscriptions', { read: readSubscription }],
  ['prompts', readBy(toPrompt)],
  ['background_calls', { read: readBackgroundCall }],
  ['chat_messages', readBy(toChat)],
  ['chat_markers', readBy(toMarker)],
  ['news', { read: readNews }],
  ['loops', readBy(toLoop)],
  ['approvals', { read: readApproval }],
  ['policies', { read: readPolicy }],
  ['allowances', readBy(toAllowance)],
  ['grants', { more: ', (SELECT username FROM users WHERE id = grants.user_id) AS username', ...readBy(toGrant) }],
])

/** There are two queues: of the jobs that wait or are held, and of the agents that are to be awake or are. */
const QUEUES: readonly string[] = [JOB_QUEUE, AGENT_QUEUE]

function readBackgroundCall(row: Row): undefined {
  toBackgroundCall(row)
  argumentsOf(row)
  resultOf(row)
  return undefined
}

function readQueue(row: Row): Trouble | undefined {
  return QUEUES.includes(text(row, 'queue')) ? undefined : { column: 'queue', words: 'there is no such queue' }
}

function readToken(row: Row): Trouble | undefined {
  const token = toToken(row)
  if (token === undefined) return undefined
  if (token.madeBy !== null && textOrNull(row, 'maker_user') !== token.userId)
    return { column: 'made_by', words: 'its account has no such token, or none that still counts' }
  if (token.agentId === null || token.revokedAt !== null) return undefined
  return textOrNull(row, 'agent_owner') === null ? noAgent('agent_id') : undefined
}

function readApproval(row: Row): Trouble | undefined {
  const { approvers } = toApproval(row)
  const isSame = text(row, 'people') === namesIn(approvers.flatMap(({ users }) => users))
  return isSame ? undefined : { column: 'people', words: 'its approvers are others' }
}

function readPolicy(row: Row): Trouble | undefined {
  const isOwn = policySubjectText(toPolicy(row).subject) === text(row, 'subject')
  return isOwn ? undefined : { column: 'subject', words: 'the columns beside it say another' }
}

function readMount(row: Row): Trouble | undefined {
  const { options, shown: specification } = toMount(row)
  if (!isShown(specification)) return { column: 'shown', words: 'that is no JSON object' }
  return flag(row, 'plain') === options.plain ? undefined : { column: 'plain', words: 'its options say something else' }
}

function readSubscription(row: Row): Trouble | undefined {
  AgentId.parse(text(row, 'agent_id'))
  return text(row, 'hash') === uriHash(text(row, 'uri'))
    ? undefined
    : { column: 'hash', words: 'that is not the hash of its URI' }
}

function readNews(row: Row): Trouble | undefined {
  const isOwn = text(row, 'hash') === subjectHash(toNews(row).subject)
  return isOwn ? undefined : { column: 'hash', words: 'that is not the hash of its subject' }
}

function readJob(row: Row): Trouble | undefined {
  const job = toJob(row)
  const trouble = brokenRule(job, { hasLease: integer(row, 'has_lease') === 1 })
  // Without its inputs no judge could work on it.
  const isWhole = isEnd(job.status) || integer(row, 'has_inputs') === 1
  return trouble ?? (isWhole ? undefined : { column: 'id', words: 'a job that has not ended always has inputs' })
}

function readRound(row: Row): Trouble | undefined {
  integer(row, 'round')
  return readQueue(row)
}

function readLease(row: Row): Trouble | undefined {
  const trouble = readQueue(row)
  if (trouble !== undefined) return trouble
  const noun = text(row, 'queue') === JOB_QUEUE ? 'job' : 'agent'
  text(row, 'key')
  const owner = textOrNull(row, 'owner')
  if (owner === null) return noun === 'job' ? { column: 'key', words: 'there is no such job' } : noAgent('key')
  return text(row, 'lane') === owner ? undefined : { column: 'lane', words: `that is not the owner of its ${noun}` }
}

const noAgent = (column: string): Trouble => ({ column, words: 'there is no such agent, or it is being deleted' })

/**
 * Throws `NotAStore` that names table, row and column of a value that a gateway could not read, or of one that no sequence of
 * our own statements leaves there. The rows are read by what reads them later, a step at a time.
 */
export async function checkReadable(copy: Queries, file: string): Promise<void> {
  for (const table of TABLES) {
    const reader = READERS.get(table.name)
    if (reader === undefined) continue
    for await (const row of rowsOf(copy, table, reader.more)) {
      const trouble = troubleIn(row, reader)
      if (trouble !== undefined) throw new NotAStore(file, `holds ${placeOf(table, row, trouble)}`)
    }
  }
}

function troubleIn(row: Row, reader: Reader): Trouble | undefined {
  const seen = watched(row)
  try {
    return reader.read(seen.row)
  } catch (error) {
    // A reader parses each column as soon as it has it: the last one that it asked for is the one that it cannot read.
    return { column: seen.last(), words: `that cannot be read: ${reasonIn(error)}` }
  }
}

/** A row that remembers which of its columns was asked for last. */
export function watched(row: Row): { readonly row: Row; last(): string; all(): ReadonlySet<string> } {
  const asked: string[] = []
  const get = (target: Row, column: string | symbol): unknown => {
    if (typeof column === 'symbol') return undefined
    asked.push(column)
    return target[column]
  }
  return { row: new Proxy(row, { get }), last: () => asked.at(-1) ?? '', all: () => new Set(asked) }
}

function placeOf({ name, key }: Table, row: Row, { column, words }: Trouble): string {
  const id = key.map((part) => String(row[part])).join(' ')
  return `${JSON.stringify(shown(String(row[column])))} in ${name}.${column} of the row ${JSON.stringify(shown(id))}: ${words}`
}

/** The first thing that a schema complains of, or what any other error says. */
function reasonIn(error: unknown): string {
  if (!(error instanceof Error)) return shown(String(error))
  const issue: unknown = 'issues' in error && Array.isArray(error.issues) ? error.issues[0] : undefined
  if (typeof issue !== 'object' || issue === null || !('message' in issue) || !('path' in issue)) return shown(error.message)
  const path = Array.isArray(issue.path) ? issue.path.join('.') : ''
  return shown(`${path === '' ? '' : `${path}: `}${String(issue.message)}`)
}
