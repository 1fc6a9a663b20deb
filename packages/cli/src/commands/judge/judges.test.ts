import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'
import { codeFor } from '../../fixture/scripted-tester.ts'
import { openTestWorker } from '../../fixture/test-worker.ts'

async function openBench() {
  const scratch = new Scratch()
  const gateway = await LocalGateway.open(scratch.data)
  const here = commandsHere(scratch)
  const tokenFor = async (username: string): Promise<string> =>
    (await gateway.call('token.create', { role: 'user', username })).token
  return {
    scratch,
    here,
    gateway,
    tokenFor,
    at: ['--data', scratch.data],
    /** As somebody else, from another machine. */
    as: (token: string, ...args: string[]) => here.run([...args, '--url', gateway.mcp], { env: { PARLEY_TOKEN: token } }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await scratch[Symbol.asyncDispose]()
    },
  }
}

test('judges are listed, drained and taken back', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const { scratch, here, at, gateway } = bench
  expect(await scratch.run(['judge', 'list', ...at])).toMatchObject({ code: 0, err: expect.stringContaining('no judge') })
  await using _judge = await openTestWorker(gateway, scratch.folder, { name: 'the one', slots: 3 })
  expect((await here.json(['judge', 'list', ...at])).items).toMatchObject([{ machine_id: 'the one', state: 'idle' }])
  expect((await here.run(['judge', 'list', ...at])).out).toMatch(/^the one +idle +0\/3 +none \(none\) .* cpp$/m)
  const drained = await here.run(['judge', 'drain', 'the one', ...at])
  expect(drained).toMatchObject({ code: 0, out: 'the one finishes what it holds and takes no more jobs.\n' })
  const admin = await bench.tokenFor('admin')
  expect((await bench.as(admin, 'judge', 'list')).out).toMatch(/^the one +draining /m)
  expect(await here.json(['judge', 'drain', 'the one', '--undo', ...at])).toEqual({ machine_id: 'the one', drain: false })
  expect(await here.run(['judge', 'drain', 'no one', ...at])).toMatchObject({
    code: 1,
    err: 'parley: there is no judge no one (parley judge list --all shows the names)\n',
  })
})

test('a judge is drained by what it is called; where two are called the same, by its machine', async () => {
  await using bench = await openBench()
  const { scratch, here, at, gateway } = bench
  const { token } = await gateway.call('token.create', { role: 'judge', name: 'tower' })
  const ofTower = { ws: gateway.ws, mcp: gateway.mcp, token }
  await using first = await openTestWorker(ofTower, join(scratch.folder, 'a'), { name: 'host-1' })
  expect((await here.run(['judge', 'list', ...at])).out).toMatch(/^tower +host-1 +idle /m)
  const drained = await here.run(['judge', 'drain', 'tower', ...at])
  expect(drained).toMatchObject({ code: 0, out: 'tower finishes what it holds and takes no more jobs.\n' })
  await using _second = await openTestWorker(ofTower, join(scratch.folder, 'b'), { name: 'host-2' })
  await expect.poll(async () => (await here.json(['judge', 'list', ...at])).items).toHaveLength(2)
  expect(await here.run(['judge', 'drain', 'tower', '--undo', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('host-1, host-2'),
  })
  expect(await here.run(['judge', 'drain', 'host-1', '--undo', ...at])).toMatchObject({ code: 0, out: 'tower takes jobs.\n' })
  // What is told of a job says the name, and so does its report.
  const id = await gateway.submit({ current_code: codeFor({}) })
  const { judge } = await gateway.ended(id)
  expect(judge).toMatchObject({ name: 'tower', machine_id: expect.stringMatching(/^host-/) })
  expect(await gateway.log(id, 'agent_status')).toContain('claimed by tower')
  const { items } = await gateway.call('job.get_artifacts', { job_id: id, names: ['report.json'] })
  expect(items['report.json']).toMatchObject({ environment: { judge: 'tower' } })
  expect((await here.run(['job', 'show', id, ...at])).out).toMatch(/^judge +tower$/m)
  await first.worker.stop(0)
  await expect.poll(async () => (await here.json(['judge', 'list', ...at])).items).toHaveLength(1)
  expect((await here.run(['judge', 'list', '--all', ...at])).out).toMatch(/^tower +host-1 +gone /m)
})

test('two tokens on one machine of the same name are two judges, by name and by machine', async () => {
  await using bench = await openBench()
  const { scratch, here, at, gateway } = bench
  const tokenOf = async (name: string): Promise<string> => (await gateway.call('token.create', { role: 'judge', name })).token
  const workerOf = async (token: string) =>
    openTestWorker({ ws: gateway.ws, mcp: gateway.mcp, token }, join(scratch.folder, token), { name: 'tower', calledAs: 'tower' })
  await using _first = await workerOf(await tokenOf('ann'))
  await expect.poll(async () => (await here.json(['judge', 'list', ...at])).items).toHaveLength(1)
  await using _second = await workerOf(await tokenOf('bob'))
  await expect.poll(async () => (await here.json(['judge', 'list', ...at])).items).toHaveLength(2)
  const shown = (await here.run(['judge', 'list', ...at])).out
  expect(shown).toMatch(/^tower +idle /m)
  expect(shown).toMatch(/^tower \(bob\) +tower#[0-9a-f]{10} +idle /m)
  const drained = await here.run(['judge', 'drain', 'tower (bob)', ...at])
  expect(drained).toMatchObject({ code: 0, out: 'tower (bob) finishes what it holds and takes no more jobs.\n' })
  const states = (await here.json(['judge', 'list', ...at])).items
  expect(states).toMatchObject([
    { machine_id: 'tower', state: 'idle' },
    { name: 'tower (bob)', state: 'draining' },
  ])
})

test('judge alone still runs one, and a word that is none of the others is a mistake', async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  expect(await here.run(['judge'])).toMatchObject({ code: 2, err: expect.stringContaining('judge needs --url') })
  expect(await here.run(['judge', 'lits'])).toMatchObject({ code: 2, err: expect.stringContaining('parley judge list?') })
  expect((await here.run(['judge', '--help'])).out).toMatch(/--slots N[^]*judge drain /)
})

test('a token that is not enough says whose it is and what is needed', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  await bench.gateway.call('user.add', { username: 'bob', admin: false })
  const bob = await bench.tokenFor('bob')
  const said = async (token: string, ...args: string[]) => {
    const { code, err } = await bench.as(token, ...args)
    expect(code).toBe(1)
    return err
  }
  expect(await said(bench.gateway.token, 'job', 'list')).toMatch(
    /^parley: this token is a judge's; this command needs a user's \(/,
  )
  expect(await said(bench.gateway.token, 'user', 'list')).toMatch(/this token is a judge's; this command needs an admin's/)
  expect(await said(bob, 'judge', 'list')).toMatch(/this token is a user's without admin rights; .* an admin's/)
  expect((await bench.as(bob, 'job', 'list')).code).toBe(0)
  const unknown = await said('pat_nobody', 'job', 'list')
  expect(unknown.match(/not known here/g)).toHaveLength(1)
  expect(unknown).not.toContain('Bearer')
})
