import { mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type AgentId, CallId, type JobId, NO_BUDGET, NO_GRANT, NO_PRICES, type TokenId, type UserId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSqlite, text } from '@parley/database'
import {
  AGENT_QUEUE,
  type ClaimKey,
  type Lease,
  type LogChain,
  type Store,
  callsLog,
  jobLog,
  openStore,
  restoreStore,
} from '../index.ts'
import { execute } from '../testing/execute.ts'
import { ENGINES, type TestEngine, startEngine } from '../testing/engines.ts'
import { MIGRATIONS, migrate } from '@parley/schema'
import { PASSING_TABLES, TABLES } from './tables.ts'
import { fromInputs } from '../record/job/row.ts'
import { claimNext, newJobId, sampleCall, sampleInputs, startedJob, storeFor } from '../fixture/sample-job.ts'
import { answeringAgent, awakeAgent, sampleAgent, sampleMount } from '../fixture/sample-agent.ts'
import { WORKER } from '../fixture/worker.ts'

const bytes = (value: string) => new TextEncoder().encode(value)
const PAIRS = ENGINES.flatMap((from) => ENGINES.map((to) => [from, to] as const))

describe('backup and restore', () => {
  const hosts = new Map<(typeof ENGINES)[number], TestEngine>()
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-backup-'))
    for (const engine of ENGINES) hosts.set(engine, await startEngine(engine))
  })
  afterAll(async () => {
    for (const host of hosts.values()) await host.stop()
    await rm(folder, { recursive: true })
  })
  const freshUrl = async (engine: (typeof ENGINES)[number]) => {
    const host = hosts.get(engine)
    if (host === undefined) throw new Error(`no ${engine}`)
    return host.freshUrl()
  }

  test.each(PAIRS)('from %s to %s everything is there, and every number goes on', async (from, to) => {
    const file = join(folder, `${from}-${to}.backup`)
    const sourceUrl = await freshUrl(from)
    const source = await openStore({ url: sourceUrl, now: () => 1_000 })
    const before = await fill(source)
    await execute(sourceUrl, 'INSERT INTO agent_spending SELECT id, 7, 8, 500 FROM agents', [])
    const spent = await spentByAgents(source)
    expect(spent).toContainEqual({ tokens: 7 + 15, microusd: 8 + 3, calls: 1 })
    await source.backup(file)
    // What comes after the backup is not in it.
    await source.logs.append('a', [bytes('later')])
    const url = await freshUrl(to)
    await restoreStore(file, url)
    const restored = await openStore({ url, now: () => 1_000 })
    expect(await snapshot(restored, before)).toEqual(before.snapshot)
    expect(await spentByAgents(restored)).toEqual(spent)
    await restored.leases.check(before.lease)
    await restored.leases.offer('jobs', 'completed')
    const again = await restored.leases.claim('jobs', 'judge', { ttlMs: 100 })
    expect(again?.key).toBe('completed')
    expect(again?.fence).toBeGreaterThan(before.completed.fence)
    expect(await restored.logs.append('a', [bytes('!')], { at: { offset: 6 } })).toEqual({ kind: 'appended', seq: 4, offset: 7 })
    await restored.audit.append([AUDIT])
    expect((await restored.audit.after(0, 10)).map((entry) => entry.seq)).toEqual([2, 3])
    await source.close()
    await restored.close()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    // Other tests have files of their own there.
    expect((await readdir(folder)).filter((name) => name.includes(`${from}-${to}.backup`))).toEqual([`${from}-${to}.backup`])
  })

  test.each(ENGINES)('%s: a target with content is refused and stays as it is', async (engine) => {
    const file = join(folder, `${engine}-full.backup`)
    const url = await freshUrl(engine)
    const store = await openStore({ url })
    await store.settings.setOnce('k', 'mine')
    await store.backup(file)
    await store.close()
    await expect(restoreStore(file, url)).rejects.toMatchObject({ code: 'not_empty' })
    const again = await openStore({ url })
    expect(await again.settings.get('k')).toBe('mine')
    await again.close()
  })

  test.each(ENGINES)('%s: a copy made during writes is one moment', async (engine) => {
    const file = join(folder, `${engine}-busy.backup`)
    const store = await openStore({ url: await freshUrl(engine) })
    const stop = new AbortController()
    const writer = (async () => {
      for (let index = 0; !stop.signal.aborted; index += 1) {
        await store.logs.append('first', [bytes(`${index}`)])
        await store.logs.append('second', [bytes(`${index}`)])
        if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    while ((await store.logs.end('first')).seq < 50) await new Promise((resolve) => setImmediate(resolve))
    await store.backup(file)
    stop.abort()
    await writer
    await store.close()
    const url = await freshUrl('sqlite')
    await restoreStore(file, url)
    const restored = await openStore({ url })
    const [first, second] = [await restored.logs.end('first'), await restored.logs.end('second')]
    expect([0, 1]).toContain(first.seq - second.seq)
    await restored.close()
  })

  test.each(ENGINES)('%s: a backup that is made while the bytes of an upload are being removed is restored', async (engine) => {
    const file = join(folder, `${engine}-removed.backup`)
    const url = await freshUrl(engine)
    const store = await openStore({ url })
    await execute(url, `INSERT INTO uploads (id, owner, size, touched_at) VALUES ('u', 'o', 5, -1)`, [])
    await store.backup(file)
    await store.close()
    await expect(restoreStore(file, await freshUrl(engine))).resolves.toBeUndefined()
  })

  test.each(ENGINES)('a backup of an earlier schema is brought up on its way to %s', async (engine) => {
    const file = join(folder, `earlier-${engine}.backup`)
    const db = openSqlite(file, 'normal')
    await migrate(db, () => 0, MIGRATIONS.slice(0, 2))
    const id = newJobId()
    const { outline } = fromInputs(sampleInputs(id))
    const job = [id, outline]
    await db.run(
      `INSERT INTO jobs (id, status, outline, created_at, finished_at, expires_at) VALUES ($1, 'failed', $2, 5, 6, 7)`,
      job,
    )
    const body = JSON.stringify({ model: 'm', codex_thread_id: null, usage: { input_tokens: 3, output_tokens: 4 } })
    await db.run(`INSERT INTO job_usage VALUES ($1, 'claim', 1, 'call', 1, $2, 7)`, [id, body])
    await db.close()
    const url = await freshUrl(engine)
    await restoreStore(file, url)
    const store = await openStore({ url })
    expect(await store.usages.ofJob(id)).toMatchObject([{ model: 'm', tokens: { input_tokens: 3, output_tokens: 4 }, at: 7 }])
    await store.close()
  })

  test('no table and no column is left out of a backup', async () => {
    const url = await freshUrl('sqlite')
    await (await openStore({ url })).close()
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    const columns = database
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'schema_migrations'`,
      )
      .all()
      .map((row) => `${text(row, 'table')}.${text(row, 'column')}`)
    database.close()
    const kept = columns.filter((column) => !PASSING_TABLES.some((table) => column.startsWith(`${table}.`)))
    const carried = TABLES.flatMap((table) => table.columns.map((column) => `${table.name}.${column}`))
    expect(kept.toSorted()).toEqual(carried.toSorted())
  })

  test('what is no backup, or a damaged one, is refused and leaves no file', async () => {
    const text = join(folder, 'text')
    await writeFile(text, 'hello'.repeat(1_000))
    const other = join(folder, 'other.db')
    const database = new DatabaseSync(other)
    database.exec('CREATE TABLE theirs (x)')
    database.close()
    const damaged = join(folder, 'damaged')
    const store = await openStore({ url: await freshUrl('sqlite') })
    for (let index = 0; index < 200; index += 1) await store.logs.append('a', [new Uint8Array(500)])
    await store.backup(damaged)
    await store.close()
    const handle = await open(damaged, 'r+')
    await handle.write(new Uint8Array(4_096).fill(0xff), 0, 4_096, 8 * 4_096)
    await handle.close()
    for (const file of [text, other, damaged, join(folder, 'missing')]) {
      const target = join(folder, 'target.db')
      await expect(restoreStore(file, target)).rejects.toMatchObject({ code: 'not_a_store' })
      expect((await readdir(folder)).filter((name) => name.startsWith('target.db') && !name.endsWith('.lock'))).toEqual([])
    }
  })

  test('a file that is in use is not restored over', async () => {
    const file = join(folder, 'used.backup')
    const url = await freshUrl('sqlite')
    const store = await openStore({ url })
    await store.backup(file)
    await expect(restoreStore(file, url)).rejects.toMatchObject({ code: 'locked' })
    await store.close()
    await restoreStore(file, url)
  })
})

const AUDIT = { at: 5, actor: 'ann', role: 'user', action: 'x', target: null, outcome: 'ok', code: null, remote: null } as const

async function fill(store: Store): Promise<Filled> {
  const user = await store.users.add({ username: 'ann', passwordHash: null, admin: true })
  const token = await store.tokens.add({ hash: 'h', role: 'user', name: 'laptop', userId: user.id, scopes: ['read', 'jobs'] })
  await store.tokens.add({ hash: 'made', role: 'user', name: 'ci', userId: user.id, scopes: ['jobs'], madeBy: token.id })
  await store.signIns.add({ jti: 'j', userId: user.id, expiresAt: 5_000, proof: { passwordHash: null } })
  await store.signIns.addLink({ hash: 'l', userId: user.id, expiresAt: 5_000 })
  await store.audit.append([AUDIT, { ...AUDIT, at: 10 }])
  await store.audit.prune(10)
  await store.settings.setOnce('fingerprint', 'f')
  await store.logs.append('a', [bytes('one'), bytes('tw'), bytes('o')])
  await store.logs.append('closed', [bytes('x')])
  await store.logs.close('closed')
  await startedJob(store, user.id)
  await store.leases.offer('jobs', 'completed')
  const lease = await store.leases.claim('jobs', 'judge', { ttlMs: 5_000 })
  const completed = await store.leases.claim('jobs', 'judge', { ttlMs: 5_000 })
  if (lease === undefined || completed === undefined) throw new Error('nothing to claim')
  await store.leases.complete(completed)
  const blob = await store.blobs.put(new Uint8Array(1_500_000).fill(7), 'job')
  const upload = await store.blobs.begin('ann')
  await store.blobs.write(upload, 'ann', 0, bytes('half'))
  const jobId = await fillJob(store, user.id)
  const agentId = await fillAgents(store, user.id)
  const ids = { tokenId: token.id, sha256: blob.sha256, jobId, agentId, lease, completed }
  return { ...ids, snapshot: await snapshot(store, ids) }
}

interface Filled {
  readonly tokenId: TokenId
  readonly sha256: string
  readonly jobId: JobId
  readonly agentId: AgentId
  readonly lease: Lease
  readonly completed: Lease
  readonly snapshot: Awaited<ReturnType<typeof snapshot>>
}

async function fillJob(store: Store, ownerId: UserId): Promise<JobId> {
  const { id } = await startedJob(store, ownerId)
  const key = await claimNext(store, 'm1', 5_000)
  const { fence } = await store.jobs.renew(key, 5_000)
  await store.logs.append(jobLog(id, 'terminal'), [bytes('x')], { fence })
  await store.jobs.patch(key, { status: 'running_test', attempt: 1, error: { code: 'c', message: 'm' } }, 1_000)
  await store.jobs.putArtifacts(key, [{ name: 'main.cpp', attempt: 1, ...(await storeFor(store, id, 'int main() {}')) }])
  await fillModels(store, ownerId, key)
  await store.judges.seen({ machineId: 'm1', name: 'n' })
  await store.workers.seen(WORKER)
  await store.gateways.announce({ id: 'g', url: 'http://g' })
  return id
}

/** What is kept of a chain is for somebody else to understand. */
const SOME_CHAIN: LogChain = {
  extend: (_end, entries) => ({ head: bytes('head'), chains: entries.map(() => bytes('chain')) }),
  trim: () => bytes('trimmed'),
}

/** One that is awake with all that an agent can have, one that waits, one that is being deleted; and what their owner was granted. */
async function fillAgents(store: Store, ownerId: UserId): Promise<AgentId> {
  const mounts = [sampleMount('files', { plain: true }), sampleMount('web')]
  const { agent, lease } = await awakeAgent(store, ownerId, { mounts, ttlMs: 5_000 })
  await store.agents.report(lease, [{ name: 'web', state: 'active', tools: 2, restarts: 0, error: null }])
  await store.agents.listen(lease, 'file:///a', 5)
  await store.chats.post(agent.id, { text: 'said \u0000', by: 'ann', key: 'k' })
  await store.chats.postAsAgent(lease, { text: 'heard', by: 'helper' })
  await store.chats.mark(agent.id, 'ann/default', 1)
  await store.logs.append(callsLog(agent.id), [bytes('{}'), bytes('{}')], { fence: lease, chain: SOME_CHAIN })
  await store.logs.create('rolled', { maxBytes: 4 })
  for (const text of ['one', 'two'])
    await store.logs.append('rolled', [bytes(text)], { chain: SOME_CHAIN, rolls: { maxBytes: 1_000_000 } })
  await store.logs.append('all gone', [bytes('one')])
  await store.logs.trim('all gone', { before: Number.MAX_SAFE_INTEGER })
  await store.tokens.add({ hash: 'agent', role: 'agent', name: 'n', agentId: agent.id })
  const turn = await answeringAgent(store, ownerId, { ttlMs: 5_000 })
  const terms = { hash: 'turn', channel: 'main', model: 'm', budget: NO_BUDGET }
  await store.modelKeys.addForAgent(turn.lease, { ...terms, promptId: turn.prompt.id })
  await store.agents.listen(turn.lease, 'file:///b', 5, 'before')
  await store.news.changed(turn.lease, 'file:///b', { digest: 'after' })
  const call = { id: CallId.parse(`cal_${'1'.repeat(26)}`), tool: 't', argumentsJson: '{}' }
  await store.backgroundCalls.begin(turn.lease, call, { maxRunning: 5, maxKept: 5 })
  await store.chats.post(turn.agent.id, { text: 'wait', by: 'ann' })
  await store.news.yield(turn.lease, turn.prompt.id, { wake_on: ['chat'], after_s: 60, say: 'look' })
  await store.usages.add(
    sampleCall({ agentId: turn.agent.id, prompt: 1, ownerId, claimId: `${turn.lease.fence}`, costMicrousd: 3 }),
  )
  await store.agents.wake((await store.agents.add(sampleAgent(ownerId))).id)
  const gone = await store.agents.add(sampleAgent(ownerId))
  await store.tokens.add({ hash: 'gone', role: 'agent', name: 'n', agentId: gone.id })
  await store.agents.markDeleting(gone.id)
  await store.grants.set(ownerId, { ...NO_GRANT, folders: ['/srv'], executors: ['*'] })
  return agent.id
}

async function fillModels(store: Store, ownerId: UserId, key: ClaimKey): Promise<void> {
  const [name, source, displayName] = ['main', 'admin', 'Main'] as const
  const rest = { wire: 'chat', modelsPath: '/models', script: null, sealedKey: 's', keyHint: 'h', enabled: true } as const
  await store.channels.put({ name, displayName, source, kind: 'openai', baseUrl: 'http://localhost', ...rest })
  const prices = { ...NO_PRICES, input_microusd_per_1m_tokens: 7 }
  await store.channels.putModel({ channel: name, model: 'm', displayName, contextTokens: 8, prices, active: false, source })
  await store.modelKeys.add(key, { hash: 'key', attempt: 1, channel: name, model: 'm', budget: { ...NO_BUDGET, tokens: 5 } })
  const call = sampleCall({ jobId: key.jobId, ownerId, claimId: key.claimId, prices, costMicrousd: 3, threadId: 't' })
  await store.usages.add(call)
  await store.usages.reserve({ ...call, callId: 'under way' }, { since: 0 })
  await store.quotas.set({
    userId: ownerId,
    jobsAtOnce: 1,
    tokensPerDay: null,
    microusdPerDay: 3,
    keptBytes: 9 ** 9,
    keptJobs: 7,
  })
}

async function snapshot(store: Store, { tokenId, sha256, jobId, agentId, lease }: Omit<Filled, 'snapshot' | 'completed'>) {
  return {
    users: await store.users.list({ limit: 10 }),
    token: await store.tokens.byId(tokenId),
    signIn: await store.signIns.get('j'),
    audit: await store.audit.after(0, 10),
    setting: await store.settings.get('fingerprint'),
    log: await store.logs.read('a', { from: { seq: 0 }, maxBytes: 100 }),
    closed: await store.logs.end('closed'),
    lease: await store.leases.get('jobs', lease.key),
    count: await store.leases.count('jobs'),
    blob: await store.blobs.verify(sha256),
    job: await store.jobs.byId(jobId),
    inputs: await store.jobs.inputs(jobId),
    artifacts: await store.jobs.artifacts(jobId),
    channels: await store.channels.list(),
    models: await store.channels.models(),
    modelKey: await store.modelKeys.find('key'),
    turnKey: await store.modelKeys.find('turn'),
    turnCalls: await store.usages.list({ limit: 10 }),
    usage: await store.usages.ofJob(jobId),
    spent: await store.usages.spentOnJob(jobId),
    quotas: await Promise.all((await store.users.list({ limit: 10 })).map(({ id }) => store.quotas.of(id))),
    heldBy: await store.jobs.heldBy(),
    terminal: await store.logs.end(jobLog(jobId, 'terminal')),
    judges: await store.judges.list(0),
    workers: await store.workers.list('executor', 0),
    agents: await store.agents.list({ limit: 10 }),
    held: await store.agents.held(agentId),
    waiting: await store.leases.count(AGENT_QUEUE),
    mounts: await store.agents.mounts(agentId),
    subscriptions: await store.agents.subscriptions(agentId),
    calls: await store.logs.end(callsLog(agentId)),
    chained: await Promise.all([callsLog(agentId), 'rolled', 'all gone'].map((name) => store.logs.chained(name))),
    chainedEntries: await store.logs.chainedEntries('rolled', { seq: 1, offset: 3, maxBytes: 100 }),
    agentTokens: [await store.tokens.byHash('agent'), await store.tokens.byHash('gone')],
    deleting: await store.agents.deleting(10),
    grants: await store.grants.list(),
  }
}

async function spentByAgents(store: Store) {
  const agents = await store.agents.list({ limit: 10 })
  return Promise.all(
    agents.map(({ id: agentId, ownerId }) => store.usages.spentIn('all', { agentId, prompt: 1, ownerId, jobId: null }, 0)),
  )
}
