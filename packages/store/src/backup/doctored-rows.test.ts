import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CallId, NO_BUDGET, NO_GRANT, NO_PRICES, type UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DecisionEffects, type Store, openStore, restoreStore } from '../index.ts'
import { openSqlite } from '@parley/database'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { claimNext, endJob, newJobId, sampleCall, sampleInputs, startedJob } from '../fixture/sample-job.ts'
import { answeringAgent, sampleMount } from '../fixture/sample-agent.ts'
import { WORKER } from '../fixture/worker.ts'
import { READERS, watched } from './check-readable.ts'
import { rowsOf } from './copy-rows.ts'
import { TABLES } from './tables.ts'

const TTL_MS = 60_000

async function fillMade(store: Store, userId: UserId): Promise<void> {
  const token = { role: 'user', name: 'ci', userId, scopes: ['jobs'] } as const
  const { id: madeBy } = await store.tokens.add({ ...token, hash: 'maker' })
  await store.tokens.add({ ...token, hash: 'made', madeBy })
}

/** A job of each kind, and a row in every table that is read by more than the types of its columns. */
async function fill(store: Store): Promise<void> {
  const { id: ownerId } = await store.users.add({ username: 'ann', passwordHash: 'h', admin: true })
  await store.users.setIdentity(ownerId, { issuer: 'i', subject: 's' })
  const { id: tokenId } = await store.tokens.add({ hash: 'h', role: 'judge', name: 'n' })
  await fillMade(store, ownerId)
  await store.audit.append([
    { at: 5, actor: 'ann', role: 'user', action: 'x', target: 't', outcome: 'ok', code: 'c', remote: 'r' },
  ])
  const created = newJobId()
  await store.jobs.add({ id: created, ownerId, inputs: sampleInputs(created) })
  await startedJob(store, ownerId)
  await endJob(store, await claimNext(store, 'm1', TTL_MS), TTL_MS)
  await startedJob(store, ownerId)
  const key = await claimNext(store, 'm1', TTL_MS)
  await store.jobs.patch(key, { status: 'running_test', attempt: 1, error: { code: 'c', message: 'm' } }, TTL_MS)
  await startedJob(store, ownerId)
  const [source, displayName] = ['admin', 'Main'] as const
  const rest = { wire: 'chat', modelsPath: '/models', script: 's', sealedKey: 's', keyHint: 'h', enabled: true } as const
  await store.channels.put({ name: 'main', displayName, source, kind: 'openai', baseUrl: 'http://localhost', ...rest })
  await store.channels.putModel({
    channel: 'main',
    model: 'm',
    displayName,
    contextTokens: 8,
    prices: NO_PRICES,
    active: true,
    source,
  })
  await store.modelKeys.add(key, { hash: 'key', attempt: 1, channel: 'main', model: 'm', budget: NO_BUDGET })
  await store.usages.add(sampleCall({ jobId: key.jobId, ownerId, claimId: key.claimId, prices: NO_PRICES, costMicrousd: 3 }))
  await store.judges.seen({ machineId: 'm1', name: 'n', tokenId })
  await store.workers.seen(WORKER)
  const { agent, lease, prompt } = await answeringAgent(store, ownerId, { mounts: [sampleMount('web')], ttlMs: TTL_MS })
  await store.leases.serve(lease)
  await store.agents.report(lease, [])
  await store.agents.listen(lease, 'file:///a', 5)
  await store.tokens.add({ hash: 'agent', role: 'agent', name: 'n', agentId: agent.id })
  await store.grants.set(ownerId, NO_GRANT)
  await store.chats.post(agent.id, { text: 'said', by: 'ann', key: 'k' })
  const calls = [1, 2].map((number) => ({ id: CallId.parse(`cal_${`${number}`.repeat(26)}`), tool: 't', argumentsJson: '{}' }))
  for (const call of calls) await store.backgroundCalls.begin(lease, call, { maxRunning: 5, maxKept: 5 })
  const ended = { state: 'returned', result: '{}', is_cut: false, is_error: false, message: '' } as const
  await store.backgroundCalls.end(lease, CallId.parse(`cal_${'1'.repeat(26)}`), ended, { maxBytes: 10 })
  await store.chats.mark(agent.id, 'ann/default', 1)
  await store.news.changed(lease, 'file:///a', { digest: 'new' })
  await store.news.yield(lease, prompt.id, { after_s: 60, say: 'look' })
  const terms = { hash: 'turn', channel: 'main', model: 'm', budget: NO_BUDGET }
  await store.modelKeys.addForAgent(lease, { ...terms, promptId: prompt.id })
  const hash = 'c'.repeat(64)
  const asked = {
    kind: 'tool',
    mount: 'web',
    name: 'x',
    digest: hash,
    arguments: '{}',
    preview: '{}',
    previewSha256: hash,
    mountVersion: null,
    policy: '',
    rule: null,
    layer: null,
  } as const
  const bounds = { ttlMs: 1_000, maxPerAgent: 1, maxPerPerson: 1 }
  const { approval } = await store.approvals.ask(
    lease,
    { ...asked, caller: 'c', reason: 'r', askers: ['default'], approvers: [] },
    bounds,
  )
  const effects = {
    allowance: {
      session: 'c',
      kind: 'tool',
      mount: 'web',
      mount_version: 1,
      name: 'x',
      digest: null,
      answers: ['default'],
      ttlMs: 1_000,
    },
    policy: { subject: { layer: 'owner', userId: ownerId }, base: null, text: '', note: '' },
  } satisfies DecisionEffects
  await store.approvals.decide(approval.id, { decision: 'approve_session', by: 'ann', reason: null, effects })
  await store.usages.add(sampleCall({ agentId: agent.id, prompt: 1, ownerId, claimId: 'turn' }))
  await store.usages.fold(store.now())
}

const of = (status: string): string => `WHERE status = '${status}'`

/** What somebody does to a row, and how the place is named in which it is refused. */
const DOCTORED: readonly (readonly [what: string, sql: string, words: string])[] = [
  [
    'a job that runs and has no judge',
    `UPDATE jobs SET machine_id = NULL ${of('running_test')}`,
    'in jobs.machine_id of the row "job_',
  ],
  ['a claim without its id', `UPDATE jobs SET claim_id = NULL ${of('running_test')}`, 'in jobs.claim_id of the row "job_'],
  ['a claim without a fence', `UPDATE jobs SET fence = NULL ${of('running_test')}`, 'in jobs.fence of the row "job_'],
  ['a job that runs and never began', `UPDATE jobs SET started_at = NULL ${of('running_test')}`, 'in jobs.started_at of'],
  [
    'a job that runs and has ended',
    `UPDATE jobs SET finished_at = 9 ${of('running_test')}`,
    'is running_test has never a time at which it ended',
  ],
  ['a job that runs and is in no queue', 'DELETE FROM leases', 'has always a place in the queue'],
  ['a created job that runs', `UPDATE jobs SET status = 'running_generate' ${of('created')}`, 'in jobs.machine_id of'],
  [
    'a created job that is said to wait',
    `UPDATE jobs SET status = 'queued', expires_at = NULL ${of('created')}`,
    '"queued" in jobs.status of',
  ],
  ['a waiting job that was never started', `UPDATE jobs SET status = 'created' ${of('queued')}`, '"created" in jobs.status of'],
  ['a created job that succeeded', `UPDATE jobs SET status = 'succeeded' ${of('created')}`, 'in jobs.machine_id of'],
  ['a job that ended at no time', `UPDATE jobs SET finished_at = NULL ${of('succeeded')}`, 'in jobs.finished_at of'],
  ['a job that ended and is kept for ever', `UPDATE jobs SET expires_at = NULL ${of('succeeded')}`, 'in jobs.expires_at of'],
  [
    'a claim under a fence that nobody has yet',
    `UPDATE jobs SET fence = 1048576 * 1000 ${of('running_test')}`,
    '"1048576000" in jobs.fence of',
  ],
  ['an id that is none', `UPDATE jobs SET retry_of = 'x'`, '"x" in jobs.retry_of of'],
  ['an outline that is no JSON', `UPDATE jobs SET outline = '{'`, '"{" in jobs.outline of'],
  ['an outline of nothing', `UPDATE jobs SET outline = '{}'`, '"{}" in jobs.outline of'],
  ['an error that is none', `UPDATE jobs SET error = '[]'`, '"[]" in jobs.error of'],
  ['a summary that is none', `UPDATE jobs SET summary = 'x\u001b'`, '"x\uFFFD" in jobs.summary of'],
  ['inputs that are no JSON', `UPDATE job_inputs SET spec = '{'`, '"{" in job_inputs.spec of'],
  ['files without a size', `UPDATE job_inputs SET files = '[{"path":"a"}]'`, 'in job_inputs.files of'],
  ['files that are no JSON', `UPDATE job_inputs SET files = '{'`, 'in job_inputs.files of'],
  ['cases that are none', `UPDATE job_inputs SET cases = '[1]'`, '"[1]" in job_inputs.cases of'],
  ['prices that are no JSON', `UPDATE models SET prices = '-'`, '"-" in models.prices of the row "main m"'],
  ['prices of nothing', `UPDATE models SET prices = 'null'`, '"null" in models.prices of the row "main m"'],
  ['prices of a call that are none', `UPDATE usage SET prices = '[]'`, '"[]" in usage.prices of'],
  ['a call of nobody', `UPDATE usage SET owner_id = 'x'`, '"x" in usage.owner_id of'],
  ['a budget that is no JSON', `UPDATE model_keys SET budget = ''`, '"" in model_keys.budget of the row "key"'],
  ['a worker of no kind', `UPDATE workers SET kind = 'x'`, '"x" in workers.kind of'],
  ['a worker that drains by more than a yes', 'UPDATE workers SET drain = 2', '"2" in workers.drain of'],
  ['a worker whose load is none', `UPDATE workers SET load = '{}'`, '"{}" in workers.load of'],
  ['a worker whose labels are no JSON', `UPDATE workers SET labels = '{'`, '"{" in workers.labels of'],
  ['facts that are none', `UPDATE judges SET facts = '7'`, '"7" in judges.facts of the row "m1"'],
  ['a judge of a token that is none', `UPDATE judges SET token_id = 'x'`, '"x" in judges.token_id of'],
  [
    'an account whose id is none',
    `UPDATE users SET id = 'x'; UPDATE tokens SET user_id = 'x' WHERE user_id IS NOT NULL; UPDATE jobs SET owner_id = 'x'; UPDATE agents SET owner_id = 'x'; UPDATE grants SET user_id = 'x'; UPDATE approvals SET owner_id = 'x'; UPDATE policies SET user_id = 'x'`,
    '"x" in users.id of the row "x"',
  ],
  ['a token whose id is none', `UPDATE tokens SET id = 'x' WHERE role = 'judge'`, '"x" in tokens.id of the row "x"'],
  ['a token of an agent that is none', `UPDATE tokens SET agent_id = 'x'`, '"x" in tokens.agent_id of'],
  [
    'a token with a scope that there is not',
    `UPDATE tokens SET role = 'user', scopes = 'jobs all' WHERE role = 'judge'`,
    '"jobs all" in tokens.scopes of the row "tok_',
  ],
  ['a token made by one whose id is none', `UPDATE tokens SET made_by = 'x' WHERE hash = 'made'`, '"x" in tokens.made_by of'],
  [
    'a token made by one that is not there',
    `UPDATE tokens SET made_by = 'tok_00000000000000000000000000' WHERE hash = 'made'`,
    '"tok_00000000000000000000000000" in tokens.made_by of the row "tok_',
  ],
  [
    'a token that outlives the one that made it',
    `UPDATE tokens SET revoked_at = 5 WHERE hash = 'maker'`,
    'in tokens.made_by of the row "tok_',
  ],
  [
    'a lease of a job that is not there',
    `UPDATE leases SET key = 'x' || id WHERE queue = 'jobs'`,
    'in leases.key of the row "jobs ',
  ],
  ['a lease of another queue', `UPDATE leases SET queue = 'other'`, '"other" in leases.queue of the row "other '],
  ['a lease in the lane of another', `UPDATE leases SET lane = 'x' WHERE queue = 'jobs'`, '"x" in leases.lane of the row "jobs '],
  [
    'a round of another queue',
    `UPDATE served_rounds SET queue = 'other' WHERE queue = 'jobs'`,
    '"other" in served_rounds.queue of the row "other"',
  ],
  [
    'a round that none comes after',
    'UPDATE served_rounds SET round = 9007199254740991',
    '"9007199254740991" in served_rounds.round of',
  ],
  ['an agent of no kind', `UPDATE agents SET kind = 'x'`, '"x" in agents.kind of the row "agt_'],
  ['an agent of no status', `UPDATE agents SET status = 'x'`, '"x" in agents.status of the row "agt_'],
  ['an agent whose name is none', `UPDATE agents SET name = ' '`, '" " in agents.name of the row "agt_'],
  ['an agent of settings that are none', `UPDATE agents SET settings = '{}'`, '"{}" in agents.settings of the row "agt_'],
  ['a report that is none', `UPDATE agents SET reported = '{'`, '"{" in agents.reported of the row "agt_'],
  [
    'a key under a fence that nobody has yet',
    `UPDATE model_keys SET fence = 1048576 * 1000 WHERE agent_id IS NOT NULL`,
    '"1048576000" in model_keys.fence of',
  ],
  ['a call of an agent with an id that is none', `UPDATE usage SET agent_id = 'x' WHERE prompt = 1`, 'usage'],
  [
    'an approval under a fence that nobody has yet',
    'UPDATE approvals SET fence = 1048576 * 1000',
    '"1048576000" in approvals.fence of',
  ],
  ['an approval in a state that there is not', `UPDATE approvals SET status = 'maybe'`, '"maybe" in approvals.status of'],
  ['a report under a fence that nobody has yet', 'UPDATE agents SET fence = 1048576 * 1000', '"1048576000" in agents.fence of'],
  ['more versions than can be counted', 'UPDATE agents SET version = 9007199254740991', 'in agents.version of the row "agt_'],
  [
    'more versions of a mount than can be counted',
    'UPDATE mounts SET version = 9007199254740991',
    '"9007199254740991" in mounts.version of the row "agt_',
  ],
  ['an agent that was made at no time', 'UPDATE agents SET created_at = -1', '"-1" in agents.created_at of the row "agt_'],
  ['a mount whose options are none', `UPDATE mounts SET options = '[]'`, '"[]" in mounts.options of the row "agt_'],
  ['a mount that shows nothing', `UPDATE mounts SET shown = '1'`, '"1" in mounts.shown of the row "agt_'],
  ['a mount that is plain by more than a yes', 'UPDATE mounts SET plain = 2', '"2" in mounts.plain of the row "agt_'],
  ['a mount that is plain against its options', 'UPDATE mounts SET plain = 1', '"1" in mounts.plain of the row "agt_'],
  ['a subscription under another hash', `UPDATE subscriptions SET uri = 'x'`, 'in subscriptions.hash of the row "agt_'],
  ['a grant that is none', `UPDATE grants SET body = '{}'`, '"{}" in grants.body of the row "usr_'],
  [
    'a lease of an agent that is not there',
    `UPDATE leases SET key = 'x' WHERE queue = 'agents'`,
    '"x" in leases.key of the row "agents ',
  ],
  [
    'a lease of an agent that is being deleted',
    `UPDATE agents SET status = 'deleting'; DELETE FROM tokens WHERE role = 'agent'`,
    'there is no such agent, or it is being deleted',
  ],
  [
    'a lease of an agent in the lane of another',
    `UPDATE leases SET lane = 'x' WHERE queue = 'agents'`,
    'that is not the owner of its agent',
  ],
  [
    'a token of an agent that is not there',
    `UPDATE tokens SET agent_id = 'agt_00000000000000000000000000' WHERE role = 'agent'`,
    '"agt_00000000000000000000000000" in tokens.agent_id of the row "tok_',
  ],
  ['entries of a log without bytes', `UPDATE log_entries SET bytes = x''`, '"" in log_entries.bytes of the row "'],
  ['a log that does not begin at its first entry', 'UPDATE log_entries SET seq = seq + 1', '"0" in logs.first_seq of the row "'],
  ['a log that begins later than its entries', 'UPDATE logs SET first_seq = 1', '"1" in logs.first_seq of the row "'],
  ['a log that begins at another byte', 'UPDATE logs SET first_offset = 7', '"7" in logs.first_offset of the row "'],
  [
    'an entry that is not there',
    `INSERT INTO log_entries (log_id, seq, end_offset, at, bytes) SELECT log_id, 7, end_offset + 1, at, x'61' FROM log_entries`,
    '"7" in log_entries.seq of the row "',
  ],
  [
    'an entry that ends elsewhere',
    'UPDATE log_entries SET end_offset = end_offset + 1',
    'in log_entries.end_offset of the row "',
  ],
  ['a log that is closed by more than a yes', 'UPDATE logs SET closed = 7', '"7" in logs.closed of the row "'],
  ['a judge that drains by more than a yes', 'UPDATE judges SET drain = 2', '"2" in judges.drain of the row "m1"'],
  [
    'more claims than can be counted',
    'UPDATE jobs SET claims = 9007199254740991',
    '"9007199254740991" in jobs.claims of the row "job_',
  ],
  ['more losses than can be counted', 'UPDATE jobs SET lost_claims = 9007199254740991', 'in jobs.lost_claims of the row "job_'],
  ['a job of more bytes than there are', 'UPDATE jobs SET kept_bytes = 9007199254740991', 'in jobs.kept_bytes of the row "job_'],
  [
    'a file of more bytes than there are',
    'UPDATE blobs SET size = 9007199254740991',
    '"9007199254740991" in blobs.size of the row "',
  ],
  [
    'an upload of more bytes than there are',
    `INSERT INTO uploads (id, owner, size, touched_at) VALUES ('u', 'o', 9007199254740991, 5)`,
    '"9007199254740991" in uploads.size of the row "u"',
  ],
  [
    'uploads of more bytes than there are together',
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO uploads (id, owner, size, touched_at) SELECT 'u' || i, 'o', 1099511627776, 5 FROM n`,
    'in uploads.size together',
  ],
  [
    'a lease that nobody lives to take',
    'UPDATE leases SET available_at = 8640000000000000',
    '"8640000000000000" in leases.available_at of the row "jobs ',
  ],
  ['a waiting job without inputs', 'DELETE FROM job_inputs', 'in jobs.id of the row "job_'],
  ['a time that has no date', 'UPDATE jobs SET created_at = 8640000000000001', '"8640000000000001" in jobs.created_at of'],
  ['a number that JavaScript does not have', 'UPDATE jobs SET claims = 9007199254740993', '"9007199254740993" in jobs.claims of'],
]

let folder = ''
let whole = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-doctored-rows-'))
  whole = join(folder, 'whole.backup')
  const store = await openStore({ url: `sqlite:${join(folder, 'source.db')}` })
  await fill(store)
  await store.backup(whole)
  await store.close()
})
afterAll(() => rm(folder, { recursive: true }))

describe.each(ENGINES)('a backup whose rows were doctored, on its way to %s', (engine) => {
  let host: TestEngine
  let url = ''
  beforeAll(async () => {
    host = await startEngine(engine)
    url = await host.freshUrl()
  })
  afterAll(() => host.stop())

  test.each(DOCTORED)('%s is refused with its table, row and column', async (_what, sql, words) => {
    const place = await mkdtemp(join(folder, 'place-'))
    const file = join(place, 'doctored.backup')
    await copyFile(whole, file)
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    database.exec(sql)
    database.close()
    const target = engine === 'sqlite' ? `sqlite:${join(place, 'target.db')}` : url
    const refused = restoreStore(file, target)
    await expect(refused).rejects.toMatchObject({ code: 'not_a_store', message: expect.stringContaining(words) })
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(`${file} holds `) })
    expect((await readdir(place)).filter((name) => !name.endsWith('.lock'))).toEqual(['doctored.backup'])
  })

  test('what was refused left nothing, and the whole one is restored and read', async () => {
    const target = engine === 'sqlite' ? `sqlite:${join(folder, 'target.db')}` : url
    await restoreStore(whole, target)
    const store = await openStore({ url: target })
    const jobs = await store.jobs.list({ limit: 10 })
    expect(jobs.map(({ status }) => status).toSorted()).toEqual(['created', 'queued', 'running_test', 'succeeded'])
    await store.close()
  })
})

/** Columns that no reader of records asks for: they guard statements, sums and references, and are not parsed. */
const UNREAD: Readonly<Record<string, readonly string[]>> = {
  users: ['deleted_at'],
  tokens: ['hash'],
  leases: ['id', 'payload', 'holder', 'turns', 'claims', 'available_at', 'round'],
  jobs: ['released', 'kept_bytes'],
  agents: ['fence'],
  prompts: ['fence'],
  chat_messages: ['post_key'],
  chat_markers: ['agent_id'],
  subscriptions: ['told'],
  loops: ['agent_id', 'last_news'],
  background_calls: ['number', 'fence'],
  approvals: ['fence', 'resolved_by'],
  allowances: ['created_by', 'created_at'],
  job_inputs: ['job_id'],
}
/** Tables that hold texts, numbers, bytes and references alone. */
const PLAIN = ['settings', 'sign_ins', 'sign_in_links', 'logs', 'log_entries', 'blobs', 'blob_holders', 'blob_chunks']
const ALSO_PLAIN = ['blob_garbage', 'uploads', 'job_artifacts', 'quotas', 'agent_spending']

test('each column of each table is read before it is restored, or known to be never parsed', async () => {
  expect([...READERS.keys(), ...PLAIN, ...ALSO_PLAIN].toSorted()).toEqual(TABLES.map(({ name }) => name).toSorted())
  const copy = openSqlite(join(folder, 'source.db'), 'normal')
  for (const table of TABLES) {
    const reader = READERS.get(table.name)
    if (reader === undefined) continue
    const read = new Set(UNREAD[table.name])
    for await (const row of rowsOf(copy, table, reader.more)) {
      const seen = watched(row)
      expect(reader.read(seen.row)).toBeUndefined()
      for (const column of seen.all()) read.add(column)
    }
    expect([table.name, ...table.columns.filter((column) => !read.has(column))]).toEqual([table.name])
  }
  await copy.close()
})
