import { expect, test } from 'vitest'
import { PlayedJudge, addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, openTestGateway } from '../fixture/test-gateway.ts'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']

async function open(gw: TestGateway) {
  const ada = await addUser(gw, 'ada')
  const id = await addJob(gw.store, ada.id)
  const call = (args: object = {}) =>
    callTool(gw.gateway.url, ada.token, 'job.read_log', { job_id: id, stream: 'terminal', ...args })
  const read = async (args: object = {}) => {
    const { chunk_b64, ...rest } = (await call(args)).structuredContent ?? {}
    return { text: Buffer.from(String(chunk_b64), 'base64').toString(), ...rest }
  }
  return { id, call, read }
}

test('any range of a log is read across its entries', async () => {
  await using gw = await openTestGateway()
  const { id, read, call } = await open(gw)
  const judge = await PlayedJudge.take(gw.store, id)
  for (const piece of ['abc', 'd', 'efghij']) await judge.append('terminal', piece)
  for (let from = 0; from <= 10; from += 1) {
    for (let size = 1; size <= 11; size += 1) {
      const text = 'abcdefghij'.slice(from, from + size)
      expect(await read({ offset: from, max_bytes: size })).toMatchObject({
        text,
        offset: from,
        next_offset: from + text.length,
        eof: false,
      })
    }
  }
  expect(failure(await call({ offset: 11 }))).toMatchObject({
    code: 'invalid_argument',
    field: 'offset',
    message: expect.stringContaining('at 10'),
  })
  await judge.end()
  expect(await read({ offset: 8 })).toMatchObject({ text: 'ij', eof: true, ends: { terminal: 10, agent_status: 0, cases: 0 } })
  expect(await read({ offset: 2, max_bytes: 3 })).toMatchObject({ text: 'cde', eof: false })
  expect(await read({ offset: 10, wait_ms: 30_000 })).toMatchObject({ text: '', eof: true })
})

test('a read that waits is answered by the next byte, by the end of the job, or by nothing after its time', async () => {
  await using gw = await openTestGateway()
  const { id, read } = await open(gw)
  expect(await read({ wait_ms: 20 })).toMatchObject({ text: '', next_offset: 0, eof: false })
  const judge = await PlayedJudge.take(gw.store, id)
  const first = read({ wait_ms: 30_000 })
  await read({ wait_ms: 20 })
  await judge.append('terminal', 'x')
  expect(await first).toMatchObject({ text: 'x', eof: false })
  const last = read({ offset: 1, wait_ms: 30_000 })
  await read({ offset: 1, wait_ms: 20 })
  await judge.end()
  expect(await last).toMatchObject({ text: '', next_offset: 1, eof: true })
})

test('a cancelled job is not read to its end while its judge may still write', async () => {
  await using gw = await openTestGateway()
  const { id, read } = await open(gw)
  const judge = await PlayedJudge.take(gw.store, id)
  await gw.admin('job.cancel', { job_id: id })
  expect(await read()).toMatchObject({ text: '', eof: false })
  await judge.append('terminal', 'stopped\n')
  expect(await read()).toMatchObject({ text: 'stopped\n', eof: false })
  await judge.release()
  expect(await read()).toMatchObject({ text: 'stopped\n', eof: true })
})
