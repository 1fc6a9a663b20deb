import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOB_LIMITS, TOOLS, UploadId } from '@parley/protocol'
import { openStore } from '@parley/store'
import { expect, test } from 'vitest'
import { addUser } from '../fixture/test-job.ts'
import { callTool, openTestGateway } from '../fixture/test-gateway.ts'
import { goodZip } from '@parley/tests-zip/testing'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const { blobBytes, chunkBytes, userBytes } = JOB_LIMITS
async function opened(more: Parameters<typeof openTestGateway>[0] = {}) {
  const gw = await openTestGateway(more)
  const { token, id } = await addUser(gw, 'ada')
  const call = (name: string, args: object, as = token) => callTool(gw.gateway.url, as, name, args)
  const failureOf = async (name: string, args: object, as = token) => (await call(name, args, as))._meta?.['parley/error']
  const begin = async (args: object = {}, as = token) =>
    TOOLS['blob.begin'].output.parse((await call('blob.begin', args, as)).structuredContent).upload_id
  return { gw, id, token, call, failureOf, begin }
}

test('an upload in chunks: resends are harmless, a gap says where to go on', async () => {
  const { gw, call, begin } = await opened()
  await using _ = gw
  expect((await call('blob.begin', {})).structuredContent).toMatchObject({ chunk_bytes: chunkBytes })
  const upload_id = await begin({ bytes: 6 })
  const write = async (offset: number, text: string) =>
    (await call('blob.write', { upload_id, offset, chunk_b64: base64(text) })).structuredContent
  expect(await write(0, 'abc')).toEqual({ ok: true, next_offset: 3 })
  expect(await write(0, 'abc')).toEqual({ ok: true, next_offset: 3 })
  expect(await write(5, 'x')).toEqual({ ok: false, code: 'offset_mismatch', next_offset: 3 })
  expect(await write(0, 'xyz')).toEqual({ ok: false, code: 'offset_mismatch', next_offset: 3 })
  expect(await write(3, 'def')).toEqual({ ok: true, next_offset: 6 })
  const stored = { sha256: sha256('abcdef'), bytes: 6 }
  expect((await call('blob.commit', { upload_id, sha256: stored.sha256 })).structuredContent).toEqual(stored)
  // The answer got lost: asked again, it is the same.
  expect((await call('blob.commit', { upload_id, sha256: stored.sha256 })).structuredContent).toEqual(stored)
})

test('what is wrong is named by its field', async () => {
  const { gw, call, failureOf, begin } = await opened()
  await using _ = gw
  const upload_id = await begin()
  const none = UploadId.parse(`upl_${'0'.repeat(26)}`)
  await call('blob.write', { upload_id, offset: 0, chunk_b64: base64('abc') })
  const cases: [name: string, args: object, code: string, field: string][] = [
    ['blob.begin', { bytes: -1 }, 'invalid_argument', 'bytes'],
    ['blob.begin', { bytes: userBytes + 1 }, 'quota_exceeded', 'bytes'],
    ['blob.write', { upload_id, offset: 3, chunk_b64: '?' }, 'invalid_argument', 'chunk_b64'],
    ['blob.write', { upload_id, offset: 3, chunk_b64: 'A'.repeat(2 * chunkBytes) }, 'invalid_argument', 'chunk_b64'],
    ['blob.write', { upload_id, offset: -1, chunk_b64: '' }, 'invalid_argument', 'offset'],
    ['blob.write', { upload_id, offset: blobBytes, chunk_b64: 'AA==' }, 'invalid_argument', 'offset'],
    ['blob.write', { upload_id, offset: blobBytes + 1, chunk_b64: 'AA==' }, 'invalid_argument', 'offset'],
    ['blob.write', { upload_id: none, offset: blobBytes, chunk_b64: 'AA==' }, 'not_found', 'upload_id'],
    ['blob.write', { upload_id: none, offset: 0, chunk_b64: '' }, 'not_found', 'upload_id'],
    ['blob.write', { upload_id: 'x', offset: 0, chunk_b64: '' }, 'invalid_argument', 'upload_id'],
    ['blob.commit', { upload_id, sha256: '0'.repeat(64) }, 'invalid_argument', 'sha256'],
    ['blob.commit', { upload_id: none, sha256: '0'.repeat(64) }, 'not_found', 'upload_id'],
    ['blob.commit', { upload_id: none }, 'not_found', 'upload_id'],
    ['blob.abort', { upload_id: none }, 'not_found', 'upload_id'],
  ]
  for (const [name, args, code, field] of cases)
    expect({ name, args, failure: await failureOf(name, args) }).toMatchObject({ failure: { code, field } })
  expect((await call('blob.commit', { upload_id })).structuredContent).toEqual({ sha256: sha256('abc'), bytes: 3 })
})

test('an offset that no upload can have is the fault of who sent it, and no line in the log', async () => {
  const { gw, failureOf, begin } = await opened()
  await using _ = gw
  const upload_id = await begin()
  expect(await failureOf('blob.write', { upload_id, offset: 2 ** 31, chunk_b64: base64('x') })).toEqual({
    code: 'invalid_argument',
    field: 'offset',
    message: 'offset: an upload has at most 2147483648 bytes',
  })
  expect(gw.logged.join('')).not.toContain('a tool failed')
})

test("another's upload is not there, and an aborted one is gone", async () => {
  const { gw, call, failureOf, begin } = await opened()
  await using _ = gw
  const { token: eve } = await addUser(gw, 'eve')
  const upload_id = await begin()
  for (const [name, args] of [
    ['blob.write', { upload_id, offset: 0, chunk_b64: '' }],
    ['blob.commit', { upload_id }],
    ['blob.abort', { upload_id }],
  ] as const) {
    expect(await failureOf(name, args, eve)).toMatchObject({ code: 'not_found', field: 'upload_id' })
    expect(await failureOf(name, args, gw.adminToken)).toMatchObject({ code: 'not_found' })
  }
  expect((await call('blob.abort', { upload_id })).structuredContent).toEqual({ upload_id, aborted: true })
  expect(await failureOf('blob.write', { upload_id, offset: 0, chunk_b64: '' })).toMatchObject({ code: 'not_found' })
})

test('so many uploads may be under way and no more', async () => {
  const { gw, call } = await opened()
  await using _ = gw
  const begun: unknown[] = []
  for (let index = 0; index < JOB_LIMITS.userUploads; index += 1)
    begun.push((await call('blob.begin', {})).structuredContent?.['upload_id'])
  expect((await call('blob.begin', {})).content[0]?.text).toContain('quota_exceeded: 64 uploads')
  await call('blob.abort', { upload_id: begun[0] })
  expect((await call('blob.begin', {})).isError).toBeUndefined()
})

test('fifty jobs at once are fifty jobs', async () => {
  const { gw, call, id } = await opened()
  await using _ = gw
  const tests_zip_b64 = (await goodZip({ '1.in': '123', '1.out': '6' })).toString('base64')
  const made = await Promise.all(Array.from({ length: 50 }, () => call('job.create', { current_code: 'x', tests_zip_b64 })))
  expect(new Set(made.map((reply) => reply.structuredContent?.['job_id'])).size).toBe(50)
  expect((await gw.store.shares.of(id)).unfinished.used).toBe(50)
})

test('what a day-old upload held and what no job came of is swept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sweep-'))
  let now = Date.now()
  const store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}`, now: () => now })
  const { gw, begin, call } = await opened({ store, now: () => now })
  const upload_id = await begin()
  await call('blob.write', { upload_id, offset: 0, chunk_b64: base64('kept for a day') })
  await call('blob.commit', { upload_id })
  // A gateway that was killed after the commit of a job's inputs and before the job.
  const orphan = await store.blobs.put(Buffer.from('of a job that never was'), `job/job_${'0'.repeat(26)}`)
  const sweptAtStart = async (sha: string): Promise<void> => {
    await gw.restart()
    await expect.poll(() => store.blobs.stat(sha)).toBeUndefined()
  }
  now += 3 * 3_600_000
  await sweptAtStart(orphan.sha256)
  expect(await store.blobs.stat(sha256('kept for a day'))).toEqual({ bytes: 14 })
  now += 25 * 3_600_000
  await sweptAtStart(sha256('kept for a day'))
  await gw[Symbol.asyncDispose]()
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
