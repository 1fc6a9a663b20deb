import type { TestCase } from '@parley/protocol'
import { expect, test } from 'vitest'
import { PlayedJudge, addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, openTestGateway } from '../fixture/test-gateway.ts'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']

const CASES: readonly TestCase[] = ['1', '2', '3'].map((name) => ({
  name,
  group: 'default',
  input_rel: `tests/${name}.in`,
  expected_rel: name === '3' ? null : `tests/${name}.out`,
  expected_present: name === '1',
  hidden: name === '2',
  points: 1,
  compare_mode: null,
}))
const FILES = {
  'tests/1.in': '1 2\n',
  'tests/1.out': '3\n',
  'tests/2.in': 'ä漢😀'.repeat(100),
  'tests/3.in': new Uint8Array(),
  'job.json': '{"secret":true}',
}

async function open(gw: TestGateway) {
  const ada = await addUser(gw, 'ada')
  const id = await addJob(gw.store, ada.id, { files: FILES, cases: CASES })
  const call = (tool: string, args: object = {}) => callTool(gw.gateway.url, ada.token, tool, { job_id: id, ...args })
  return { id, call }
}

test('the cases are listed, and shown from their beginning without a broken character', async () => {
  await using gw = await openTestGateway()
  const { call } = await open(gw)
  expect((await call('job.get_tests')).structuredContent).toEqual({ items: CASES, total: 3 })
  const preview = async (args: object) => (await call('job.get_test_preview', args)).structuredContent
  expect(await preview({ input_rel: 'tests/1.in', expected_rel: 'tests/1.out' })).toEqual({
    input: { text: '1 2\n', truncated: false, bytes: 4, missing: false },
    expected: { text: '3\n', truncated: false, bytes: 2, missing: false },
  })
  // The case names an answer that was not handed in.
  expect(await preview({ input_rel: 'tests/2.in', expected_rel: 'tests/2.out', max_bytes: 900 })).toMatchObject({
    input: { text: FILES['tests/2.in'], truncated: false },
    expected: { text: '', bytes: 0, missing: true },
  })
  for (let size = 1; size <= 20; size += 1) {
    const { input } = (await preview({ input_rel: 'tests/2.in', max_bytes: size })) as { input: { text: string } }
    expect(input).toMatchObject({ truncated: true, bytes: 900 })
    expect(FILES['tests/2.in'].startsWith(input.text)).toBe(true)
    expect(Buffer.byteLength(input.text)).toBeGreaterThan(size - 4)
  }
  expect(await preview({ input_rel: 'tests/3.in', expected_rel: null })).toEqual({
    input: { text: '', truncated: false, bytes: 0, missing: false },
    expected: null,
  })
})

test.each([
  ['input_rel', 'tests/no-such.in'],
  ['input_rel', 'job.json'],
  ['input_rel', 'tests/../job.json'],
  ['input_rel', '/etc/passwd'],
  ['input_rel', 'tests//1.in'],
  ['expected_rel', 'job.json'],
  ['expected_rel', 'tests/../../job.json'],
  ['expected_rel', 'tests/no-such.out'],
])('%s %s is refused at its field', async (field, path) => {
  await using gw = await openTestGateway()
  const { call } = await open(gw)
  const reply = await call('job.get_test_preview', { input_rel: 'tests/1.in', [field]: path })
  expect(failure(reply)).toMatchObject({ code: 'invalid_argument', field })
})

test('artifacts come by name, JSON as an object, and what is not there is left out', async () => {
  await using gw = await openTestGateway()
  const { id, call } = await open(gw)
  expect((await call('job.get_artifacts')).structuredContent).toEqual({ items: {} })
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.put({ 'main.cpp': 'int main() {}\n', 'report.json': '{"status":"succeeded"}', 'usage.json': '{"a":1}' })
  await judge.put({ 'solution.json': 'not JSON', 'notes.txt': 'x' })
  expect((await call('job.get_artifacts')).structuredContent).toEqual({
    items: { 'main.cpp': 'int main() {}\n', 'report.json': { status: 'succeeded' }, 'solution.json': 'not JSON' },
  })
  const named = await call('job.get_artifacts', { names: ['usage.json', 'no-such', 'usage.json'] })
  expect(named.structuredContent).toEqual({ items: { 'usage.json': { a: 1 } } })
})

test('artifacts that are too large for one message together are named, and come one by one', async () => {
  await using gw = await openTestGateway()
  const { id, call } = await open(gw)
  const judge = await PlayedJudge.take(gw.store, id)
  const large = 'x'.repeat(8 * 1024 * 1024)
  await judge.put({ 'a.txt': large, 'b.txt': large, 'lines.txt': '\n'.repeat(8 * 1024 * 1024) })
  const refused = failure(await call('job.get_artifacts', { names: ['a.txt', 'b.txt'] }))
  expect(refused).toMatchObject({
    code: 'invalid_argument',
    field: 'names',
    message: expect.stringContaining('a.txt (8388608 bytes)'),
  })
  expect(failure(await call('job.get_artifacts', { names: ['lines.txt'] }))).toMatchObject({ field: 'names' })
  const { structuredContent, content } = await call('job.get_artifacts', { names: ['a.txt'] })
  expect(structuredContent).toEqual({ items: { 'a.txt': large } })
  expect(content[0]?.text.length).toBeLessThan(100)
})
