import { expect, test } from 'vitest'
import { listIn, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestJudge, addJob } from '../fixture/test-judge.ts'

const LONG_MS = 30_000
const FACTS = {
  version: '1.2.3',
  languages: [{ language: 'cpp20', version: 'g++ 13' }],
  sandbox: { driver: 'cage', tier: 'full', enforced: { memory: 'cgroup' }, missing: [] },
  slots: 2,
  running: 0,
}
const JUDGE_TOKEN = 'one-token-for-many-machines-0123456789'

interface Listed {
  readonly machine_id: string
  readonly name: string
  readonly state: string
  readonly drain: boolean
  readonly jobs: readonly string[]
  readonly facts: object | null
}

async function openBench() {
  const gw = await openTestGateway({ judgeToken: JUDGE_TOKEN })
  const listed = async (): Promise<Listed[]> => listIn((await gw.admin('judge.list')).structuredContent, 'items')
  return {
    gw,
    listed,
    judgeOf: (token: string, machineId = 'tower') => TestJudge.open(gw.gateway.ws, token, machineId),
    /** The entry of this name; it is there once its judge has asked. */
    entry: async (name: string): Promise<Listed> => {
      await expect.poll(async () => (await listed()).map((judge) => judge.name)).toContain(name)
      const found = (await listed()).find((judge) => judge.name === name)
      if (found === undefined) throw new Error(`there is no judge ${name}`)
      return found
    },
    [Symbol.asyncDispose]: () => gw[Symbol.asyncDispose](),
  }
}

test('what another token says of the same machine neither changes, drains nor hears anything of the first', async () => {
  await using bench = await openBench()
  const { gw, entry } = bench
  const tokens = [await mint(gw, { role: 'judge', name: 'ann' }), await mint(gw, { role: 'judge', name: 'bob' })]
  const [first, second, fixed] = await Promise.all(
    [...tokens.map(({ token }) => token), JUDGE_TOKEN].map((token) => bench.judgeOf(token)),
  )
  if (first === undefined || second === undefined || fixed === undefined) throw new Error('three judges are needed')
  const waiting = first.poll({ name: 'tower', wait_ms: LONG_MS, facts: FACTS })
  const before = await entry('tower')
  expect(before).toMatchObject({ machine_id: 'tower', state: 'idle', facts: FACTS })
  const lies = { ...FACTS, languages: [{ language: 'rust', version: '1' }], slots: 1_000 }
  const hers = await second.poll({ name: 'tower', facts: lies })
  expect(hers).toEqual({ claimed: false, name: 'tower (bob)', drain: false })
  const others = second.poll({ name: 'tower', wait_ms: LONG_MS, facts: lies })
  expect(await fixed.poll({ name: 'tower' })).toMatchObject({ name: 'tower (judge)', drain: false })
  expect(await entry('tower')).toMatchObject({ machine_id: 'tower', facts: FACTS, drain: false })
  const machines = (await bench.listed()).map(({ machine_id }) => machine_id)
  expect(new Set(machines).size).toBe(3)

  // The first is told to drain; the second is not, and takes the job under its own name.
  await gw.admin('judge.drain', { machine_id: 'tower' })
  await expect.poll(async () => (await entry('tower')).state).toBe('draining')
  const id = await addJob(gw.store, { language: 'rust' })
  const taken = await others
  expect(taken).toMatchObject({ claimed: true, job_id: id, name: 'tower (bob)', drain: false })
  const { machine_id: ownMachine, jobs } = await entry('tower (bob)')
  expect(jobs).toEqual([id])
  expect((await gw.store.jobs.byId(id))?.claim).toMatchObject({ machineId: ownMachine, judgeName: 'tower (bob)' })
  expect((await entry('tower')).jobs).toEqual([])

  // A cancel goes to who holds the job, and who leaves leaves alone.
  await gw.admin('job.cancel', { job_id: id })
  expect(await second.told('judge_control')).toMatchObject({ job_id: id, action: 'cancel' })
  second.close()
  await second.socket.closed
  await gw.admin('judge.drain', { machine_id: ownMachine })
  await gw.admin('judge.drain', { machine_id: 'tower', drain: false })
  const next = await addJob(gw.store)
  expect(await waiting).toMatchObject({ claimed: true, job_id: next, name: 'tower', drain: false })
  expect(first.socket.messages.filter((message) => JSON.stringify(message).includes('judge_control'))).toEqual([])
  for (const judge of [first, fixed]) judge.close()
})

test('a judge whose token is replaced goes on beside its old entry, which goes with the old token', async () => {
  await using bench = await openBench()
  const { gw, listed } = bench
  const [old, next] = [await mint(gw, { role: 'judge', name: 'old' }), await mint(gw, { role: 'judge', name: 'next' })]
  const before = await bench.judgeOf(old.token)
  expect(await before.poll({ facts: FACTS })).toMatchObject({ name: 'old' })
  before.close()
  await before.socket.closed
  const after = await bench.judgeOf(next.token)
  expect(await after.poll({ facts: FACTS })).toMatchObject({ name: 'next' })
  await gw.admin('token.revoke', { id: old.id })
  const id = await addJob(gw.store)
  expect(await after.poll({ facts: FACTS })).toMatchObject({ claimed: true, job_id: id, name: 'next' })
  expect(await listed()).toMatchObject([{ name: 'next', state: 'busy', jobs: [id] }])
  after.close()
})

test('two judges of one token on one machine are told apart by what they say, and the fixed token is one for many machines', async () => {
  await using bench = await openBench()
  const { token } = await mint(bench.gw, { role: 'judge', name: 'ann' })
  for (const shown of [token, JUDGE_TOKEN])
    for (const machine of ['host-1', 'host-2']) {
      const judge = await bench.judgeOf(shown, `${shown === token ? 'ann' : 'any'}-${machine}`)
      await judge.poll({ facts: FACTS })
      judge.close()
    }
  const { structuredContent } = await bench.gw.admin('judge.list', { gone: true })
  expect(listIn<Listed>(structuredContent, 'items').map(({ machine_id, name }) => [machine_id, name])).toEqual([
    ['ann-host-1', 'ann'],
    ['ann-host-2', 'ann'],
    ['any-host-1', 'any-host-1'],
    ['any-host-2', 'any-host-2'],
  ])
})

test('a machine that somebody took on purpose, with its own name beside another, is a conflict that names the field', async () => {
  await using bench = await openBench()
  const { gw } = bench
  const tokens = [await mint(gw, { role: 'judge', name: 'ann' }), await mint(gw, { role: 'judge', name: 'bob' })]
  const [ann, bob] = await Promise.all(tokens.map(({ token }) => bench.judgeOf(token)))
  if (ann === undefined || bob === undefined) throw new Error('two judges are needed')
  await ann.poll()
  await bob.poll()
  const beside = (await bench.entry('bob')).machine_id
  bob.close()
  await bob.socket.closed
  await gw.store.judges.prune(Number.MAX_SAFE_INTEGER)
  await ann.poll()
  await ann.poll({ machine_id: beside })
  const again = await bench.judgeOf(tokens[1]?.token ?? '')
  expect(await again.refused('judge.claim_next', { machine_id: 'tower' })).toMatchObject({
    code: 'conflict',
    field: 'machine_id',
    hint: expect.stringContaining('--name'),
  })
  for (const judge of [ann, again]) judge.close()
})
