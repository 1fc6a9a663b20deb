import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { JobId } from '@parley/protocol'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const ID_BYTES = 26
const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway
/** The first bytes of the next ids, so that two of them begin alike. */
let start: readonly number[] = []

beforeAll(async () => {
  const random = (size: number) => {
    const bytes = randomBytes(size)
    if (size === ID_BYTES) bytes.set(start)
    return bytes
  }
  gateway = await LocalGateway.open(scratch.data, { random })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const submit = async (first: readonly number[], title: string): Promise<JobId> => {
  start = first
  const { job_id } = await gateway.call('job.create', { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP, title })
  start = []
  return job_id
}

test('a job is named by the beginning of its id that no other has, with the prefix or without', async () => {
  const one = await submit([1, 2, 3, 4, 5], 'one')
  const two = await submit([1, 2, 3, 4, 6], 'two')
  expect([one.slice(0, 9), two.slice(0, 9)]).toEqual(['job_12345', 'job_12346'])
  for (const given of [one, one.slice('job_'.length), 'job_12345', '12345', 'JOB_12345'])
    expect(await json(['job', 'show', given, ...at])).toMatchObject({ job_id: one })
  expect(await run(['job', 'show', '1234', ...at])).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(
      /^parley: 2 jobs begin with job_1234: job_12346\w+ \(two\), job_12345\w+ \(one\) \(give more of the id\)\n$/,
    ),
  })
  for (const command of ['show', 'watch', 'cancel', 'artifacts', 'input', 'retry', 'delete']) {
    expect(await run(['job', command, 'looll', ...at])).toEqual({
      code: 1,
      out: '',
      err: 'parley: there is no job whose id begins with job_looll (parley job list shows the ids)\n',
    })
    for (const given of ['123', 'job_12', 'job_', '', '@first', '../..', `${one}x`])
      expect(await run(['job', command, given, ...at])).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^parley: JOB "[^\n]*\n$/),
      })
  }
  expect(await json(['job', 'cancel', '12345', ...at])).toEqual({ job_id: one, status: 'cancelled' })
  expect(await json(['job', 'delete', '12345', ...at])).toMatchObject({ job_id: one, deleted: true })
})

test('@last is the newest job of whoever asks, also for an admin who sees those of everybody', async () => {
  await gateway.call('user.add', { username: 'ada' })
  await gateway.call('user.add', { username: 'eve' })
  const tokenOf = async (username: string) => (await gateway.call('token.create', { role: 'user', username })).token
  const as = async (username: string) => ({ env: { PARLEY_URL: gateway.url, PARLEY_TOKEN: await tokenOf(username) } })
  const [ada, admin, eve] = [await as('ada'), await as('admin'), await as('eve')]
  const submitAs = async (who: typeof ada) => {
    const made = await run(['job', 'submit', '--code', 'main.cpp', '--tests', 'tests.zip', '--detach', '--json'], who)
    return JSON.parse(made.out).job_id
  }
  writeFileSync(`${scratch.folder}/main.cpp`, 'int main() {}\n')
  writeFileSync(`${scratch.folder}/tests.zip`, Buffer.from(ONE_CASE_ZIP, 'base64'))
  // What is handed in on this machine is the oldest admin's.
  const here = await submit([], 'local')
  expect(await json(['job', 'show', '@last', ...at])).toMatchObject({ job_id: here })
  const ofAdmin = await submitAs(admin)
  const ofAda = await submitAs(ada)
  expect((await json(['job', 'list'], admin)).items[0]).toMatchObject({ job_id: ofAda })
  expect(await json(['job', 'show', '@last'], ada)).toMatchObject({ job_id: ofAda })
  expect(await json(['job', 'show', '@last'], admin)).toMatchObject({ job_id: ofAdmin })
  expect(await json(['job', 'show', '@last', ...at])).toMatchObject({ job_id: ofAdmin })
  expect(await run(['job', 'show', '@last'], eve)).toMatchObject({
    code: 1,
    err: 'parley: @last: you have handed in no job yet (parley job submit hands one in)\n',
  })
})

test('a beginning that is too short says how long it has to be, and what is like @last is told as that', async () => {
  expect((await run(['job', 'show', 'job_ezx', ...at])).err).toBe(
    'parley: JOB "job_ezx" is no id of a job: at least 4 characters of it are needed after job_ (parley job list shows the ids)\n',
  )
  expect(await run(['job', 'show', '@lst', ...at])).toEqual({
    code: 2,
    out: '',
    err: 'parley: JOB "@lst" is no id of a job (did you mean @last?)\n',
  })
})

test('a token is revoked by the beginning of its id', async () => {
  const { id } = await gateway.call('token.create', { role: 'judge', name: 'one' })
  await gateway.call('token.create', { role: 'judge', name: 'two' })
  const start12 = id.slice(0, 'tok_'.length + 12)
  expect(await json(['token', 'revoke', start12, ...at])).toMatchObject({ id, revoked_at: expect.any(String) })
  const { id: other } = await gateway.call('token.create', { role: 'judge', name: 'three' })
  expect((await run(['token', 'revoke', other, ...at])).out).toBe(`${other} is revoked.\n`)
  expect((await run(['token', 'revoke', other, ...at])).out).toBe(`${other} was revoked already.\n`)
  // No id has an l or an o in it.
  expect(await run(['token', 'revoke', 'lolo', ...at])).toEqual({
    code: 1,
    out: '',
    err: 'parley: there is no token whose id begins with tok_lolo (parley token list shows the ids)\n',
  })
  expect(await run(['token', 'revoke', 'x', ...at])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^parley: ID "x" is no id/),
  })
})

test('a gateway by its URL needs a token, and it is said how to give one and how to make one', async () => {
  const needed =
    /^parley: a token is needed for http:\/\/127\.0\.0\.1:\d+: give it by --token-file FILE, in PARLEY_TOKEN, or by --token TOKEN \(parley token create --role user --user NAME makes one for [^\n]*\)\n$/
  for (const command of [
    ['job', 'list'],
    ['user', 'list'],
    ['usage'],
    ['judge', 'list'],
    ['quota', 'show'],
    ['audit', 'search'],
  ]) {
    expect(await run([...command, '--url', gateway.url])).toEqual({ code: 2, out: '', err: expect.stringMatching(needed) })
    expect(await run(command, { env: { PARLEY_URL: gateway.url } })).toMatchObject({
      code: 2,
      err: expect.stringMatching(needed),
    })
  }
})
