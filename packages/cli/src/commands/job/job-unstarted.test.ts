import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
  writeFileSync(join(scratch.folder, 'a.cpp'), 'int main() {}')
  mkdirSync(join(scratch.folder, 'one'))
  writeFileSync(join(scratch.folder, 'one/1.in'), '')
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

const created = async () =>
  (await gateway.call('job.create', { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP })).job_id

test('a job whose start a quota refuses is not left behind', async () => {
  await gateway.call('user.add', { username: 'ann' })
  await gateway.call('user.set_quota', { username: 'ann', jobs_at_once: 1 })
  const { token } = await gateway.call('token.create', { role: 'user', username: 'ann' })
  const ann = { env: { PARLEY_URL: gateway.url, PARLEY_TOKEN: token } }
  const submit = () => run(['job', 'submit', '--code', 'a.cpp', '--tests', 'one'], ann)
  const listed = async () => (await gateway.call('job.list', {})).items.map(({ job_id }) => `${job_id}\n`)
  const before = new Set(await listed())
  const first = await submit()
  expect(first.code).toBe(0)
  expect(await submit()).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^parley: jobs_at_once: 1 of 1 [^\n]* \(parley quota show shows your quota; [^\n]*\)\n$/),
  })
  expect((await listed()).filter((id) => !before.has(id))).toEqual([first.out])
})

test('a job that was never started says so, and how to start it anew', async () => {
  const id = await created()
  const way = `parley job cancel ${id} and then parley job retry ${id} start it anew; parley job delete ${id} removes it`
  expect(await run(['job', 'show', id, ...at])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`it was never started; ${way}`),
  })
  const told = { code: 1, err: `parley: ${id} was never started (${way})\n` }
  expect(await run(['job', 'watch', id, ...at])).toEqual({ ...told, out: `${id} created: untitled\n` })
  expect(await run(['job', 'retry', id, ...at])).toEqual({ ...told, out: '' })
  expect(await run(['job', 'cancel', id, ...at])).toMatchObject({ code: 0, out: `${id} is cancelled.\n` })
  expect((await run(['job', 'retry', id, ...at])).code).toBe(0)
})

test('a job that has ended is not told as cancelled', async () => {
  const id = await created()
  expect((await run(['job', 'cancel', id, ...at])).out).toBe(`${id} is cancelled.\n`)
  expect(await run(['job', 'cancel', id, ...at])).toEqual({
    code: 0,
    out: `${id} had already ended (cancelled); nothing to cancel.\n`,
    err: '',
  })
})

test('the help says what becomes of a job whose watching ends', async () => {
  const help = async (command: string) => (await run(['job', command, '--help'])).out.replaceAll(/\s+/g, ' ')
  for (const command of ['submit', 'retry']) expect(await help(command)).toContain('Ctrl-C or SIGTERM then cancels the job')
  expect(await help('watch')).toContain('ends the watching with exit code 130, and leaves the job running')
})
