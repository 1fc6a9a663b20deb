import { expect, test } from 'vitest'
import { addJob, addUser } from '../fixture/test-job.ts'
import { type ToolReply, callTool, mint, openTestGateway, request } from '../fixture/test-gateway.ts'
import { goodZip } from '@parley/tests-zip/testing'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']

test('whoever handed a job in reads all of it again, hidden tests too, and nobody else does', async () => {
  await using gw = await openTestGateway()
  const [ada, bob] = [await addUser(gw, 'ada'), await addUser(gw, 'bob')]
  const big = new Uint8Array(3_000).map((_, index) => index % 251)
  const id = await addJob(gw.store, ada.id, {
    files: { 'tests/2.in': big, 'tests/1.in': '1 2\n', 'tests/0.in': new Uint8Array(), 'job.json': '{}' },
  })
  const call = (tool: string, args: object = {}, token = ada.token) =>
    callTool(gw.gateway.url, token, tool, { job_id: id, ...args })
  const { items } = (await call('job.get_input')).structuredContent ?? {}
  expect(items).toEqual(
    expect.arrayContaining([
      { path: 'tests/0.in', bytes: 0 },
      { path: 'tests/1.in', bytes: 4 },
      { path: 'tests/2.in', bytes: 3_000 },
    ]),
  )
  expect(items).not.toContainEqual(expect.objectContaining({ path: 'job.json' }))

  const read = async (path: string, args: object = {}) => (await call('job.read_input', { path, ...args })).structuredContent
  const text = (content: unknown) => Buffer.from(String(content), 'base64')
  expect(await read('tests/1.in')).toEqual({
    job_id: id,
    path: 'tests/1.in',
    offset: 0,
    chunk_b64: Buffer.from('1 2\n').toString('base64'),
    next_offset: 4,
    eof: true,
  })
  const first = await read('tests/2.in', { max_bytes: 2_000 })
  const rest = await read('tests/2.in', { offset: 2_000, max_bytes: 2_000 })
  expect([first, rest]).toMatchObject([
    { next_offset: 2_000, eof: false },
    { next_offset: 3_000, eof: true },
  ])
  expect(Buffer.concat([text(first?.['chunk_b64']), text(rest?.['chunk_b64'])]).equals(big)).toBe(true)
  expect(await read('tests/0.in')).toMatchObject({ chunk_b64: '', next_offset: 0, eof: true })
  expect(await read('tests/1.in', { offset: 900 })).toMatchObject({ chunk_b64: '', eof: true })

  for (const path of ['job.json', '../job.json', 'tests/9.in', ''])
    expect(failure(await call('job.read_input', { path }))).toMatchObject({ code: 'invalid_argument', field: 'path' })
  for (const tool of ['job.get_input', 'job.read_input'])
    expect(failure(await call(tool, tool === 'job.get_input' ? {} : { path: 'tests/1.in' }, bob.token))).toMatchObject({
      code: 'not_found',
    })
  expect(failure(await gw.admin('job.get_input', { job_id: id }))).toBeUndefined()
  const judge = await mint(gw, { role: 'judge', name: 'j' })
  const asked = { name: 'job.get_input', arguments: { job_id: id } }
  const refused = await request(gw.gateway.url, judge.token, 'tools/call', asked)
  expect(refused.body.error).toMatchObject({ code: -32602, message: 'unknown tool: job.get_input' })
})

test('statement, code, checker and interactor come by the names of their languages', async () => {
  await using gw = await openTestGateway()
  const made = await gw.admin('job.create', {
    statement_md: '# Sum\n',
    language: 'python',
    current_code: 'print(1)\n',
    checker: { language: 'cpp', source: 'int main() {}\n' },
    compare_mode: 'checker',
    tests_zip_b64: (await goodZip({ '1.in': '1\n', '1.out': '1\n' })).toString('base64'),
  })
  const job_id = made.structuredContent?.['job_id']
  const { items } = (await gw.admin('job.get_input', { job_id })).structuredContent ?? {}
  expect(items).toEqual([
    { path: 'statement.md', bytes: 6 },
    { path: 'main.py', bytes: 9 },
    { path: 'checker.cpp', bytes: 14 },
    { path: 'tests/1.in', bytes: 2 },
    { path: 'tests/1.out', bytes: 2 },
  ])
  const statement = await gw.admin('job.read_input', { job_id, path: 'statement.md' })
  expect(statement.structuredContent).toMatchObject({ chunk_b64: Buffer.from('# Sum\n').toString('base64'), eof: true })
})
