import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOB_LIMITS } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type InputSource, fetchInputs } from './fetch-inputs.ts'
import { InputCache } from './input-cache.ts'

const KIB = 1024
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const item = (path: string, text: string) => ({ path, size: Buffer.byteLength(text), sha256: hash(text) })

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-inputs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A gateway that serves these files, in chunks of three bytes. */
function sourceOf(files: Readonly<Record<string, string>>): InputSource & { reads: number } {
  const source = {
    reads: 0,
    list: async () => ({ items: Object.entries(files).map(([path, text]) => item(path, text)) }),
    readChunk: async (path: string, offset: number) => {
      source.reads += 1
      const bytes = Buffer.from(files[path] ?? '').subarray(offset, offset + 3)
      return { chunk_b64: bytes.toString('base64'), next_offset: offset + bytes.length, eof: false }
    },
  }
  return source
}

async function openCache(folder: string, limitBytes = 1024 * KIB): Promise<InputCache> {
  const cache = new InputCache({ folder: join(folder, 'inputs'), limitBytes, now: Date.now, owner: 'me' })
  await cache.open()
  return cache
}

const fetchInto = (folder: string, source: InputSource, cache: InputCache) =>
  fetchInputs({
    source,
    cache,
    folder,
    jobFileBytes: 1_000_000,
    downloadsAtOnce: 4,
    signal: new AbortController().signal,
  })

test('inputs come whole, and the same again from the cache', async () => {
  const folder = scratch()
  const cache = await openCache(folder)
  const files = { 'job.json': '{"a":1}', 'tests/1.in': 'one', 'tests/deep/er/2.in': 'two two', 'tests/empty.in': '' }
  const source = sourceOf(files)
  await fetchInto(join(folder, 'a'), source, cache)
  for (const [path, text] of Object.entries(files)) expect(readFileSync(join(folder, 'a', path), 'utf8')).toBe(text)
  const before = source.reads
  const ownBytes = Buffer.byteLength(files['job.json'])
  await fetchInto(join(folder, 'b'), source, cache)
  for (const [path, text] of Object.entries(files)) expect(readFileSync(join(folder, 'b', path), 'utf8')).toBe(text)
  // What belongs to one job alone is fetched again, in chunks of three.
  expect(source.reads).toBe(before + Math.ceil(ownBytes / 3))
})

test('a cached file that was changed is not used', async () => {
  const folder = scratch()
  const cache = await openCache(folder)
  writeFileSync(join(folder, 'inputs', hash('right')), 'wrong')
  await fetchInto(join(folder, 'a'), sourceOf({ 'job.json': '{}', 'tests/1.in': 'right' }), cache)
  expect(readFileSync(join(folder, 'a/tests/1.in'), 'utf8')).toBe('right')
})

test('the cache stays within its bytes, of which a small file takes 64 KiB, and the longest unused go first', async () => {
  const folder = scratch()
  let clock = 1_000_000
  const limitBytes = 200 * KIB
  const cache = new InputCache({ folder: join(folder, 'inputs'), limitBytes, now: () => (clock += 60_000), owner: 'me' })
  await cache.open()
  const text = (letter: string): string => letter.repeat(30)
  for (const [round, letter] of ['a', 'b', 'c', 'a', 'd', 'e'].entries())
    await fetchInto(join(folder, String(round)), sourceOf({ 'job.json': '{}', 'tests/1.in': text(letter) }), cache)
  const kept = readdirSync(join(folder, 'inputs'))
  expect(kept).toHaveLength(3)
  expect(kept).toContain(hash(text('e')))
})

const big = JOB_LIMITS.zipFileBytes + 1
test.each([
  ['../escape', {}],
  ['/etc/passwd', {}],
  ['tests/../../escape', {}],
  ['tests/./1.in', {}],
  ['tests//1.in', {}],
  ['tests/a\\..\\b', {}],
  ['tests/nul\0', {}],
  ['tests', {}],
  ['tests/', {}],
  ['other/1.in', {}],
  [`tests/${'a/'.repeat(20)}b`, {}],
  [`tests/${'a'.repeat(300)}`, {}],
  ['job.json/tests', {}],
  ['tests/1.in', { size: big }],
  ['tests/1.in', { size: -1 }],
  ['tests/1.in', { sha256: '../../../../tmp/x' }],
  ['tests/1.in', { sha256: hash('something else') }],
])('a gateway that lists %j %j writes nothing outside', async (path, more) => {
  const folder = scratch()
  const files = sourceOf({ 'job.json': '{}', [path]: 'evil' })
  const source = { ...files, list: async () => ({ items: [item('job.json', '{}'), { ...item(path, 'evil'), ...more }] }) }
  await expect(fetchInto(join(folder, 'job/input'), source, await openCache(folder))).rejects.toMatchObject({
    code: 'input_refused',
  })
  expect(existsSync(join(folder, 'escape'))).toBe(false)
  expect(readdirSync(folder).filter((name) => name !== 'job' && name !== 'inputs')).toEqual([])
})

test('a path that is a file and a folder, one listed twice, a missing job.json, chunks that never end: refused', async () => {
  const folder = scratch()
  const cache = await openCache(folder)
  const refused = (name: string, source: InputSource) =>
    expect(fetchInto(join(folder, name), source, cache)).rejects.toMatchObject({ code: 'input_refused' })
  await refused('c', sourceOf({ 'tests/1.in': 'x' }))
  await refused('d', {
    ...sourceOf({ 'job.json': '{}' }),
    list: async () => ({ items: [item('job.json', '{}'), item('job.json', '{}')] }),
  })
  const endless = { chunk_b64: '', next_offset: 0, eof: false }
  await refused('e', { ...sourceOf({ 'job.json': '{"b":1}' }), readChunk: async () => endless })
  await refused('f', sourceOf({ 'job.json': '{}', 'tests/a': 'x', 'tests/a/b': 'y' }))
  expect(readdirSync(join(folder, 'inputs')).filter((name) => name.endsWith('.part'))).toEqual([])
})
