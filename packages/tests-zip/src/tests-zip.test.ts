import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ToolError } from '@parley/protocol'
import { type Store, openStore } from '@parley/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeZip } from './base64.ts'
import { type RawEntry, goodZip, rawZip } from './testing/raw-zip.ts'
import { blobSource, bufferSource } from './source.ts'
import { openTestsZip, storeTests } from './tests-zip.ts'
import { ZipRefused, atField } from './zip-refused.ts'

const MIB = 1024 * 1024
const OWNER = 'user/usr_1'
const text = (content: string) => Buffer.from(content)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let folder: string
let store: Store
let rows: DatabaseSync
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-zip-'))
  store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
  rows = new DatabaseSync(join(folder, 'parley.db'), { readOnly: true })
})
afterAll(async () => {
  rows.close()
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

/** What is there of blobs and uploads, down to the last row, once the garbage is gone. */
async function counts(): Promise<unknown[]> {
  await store.blobs.collect(0)
  const tables = ['uploads', 'blobs', 'blob_holders', 'blob_chunks', 'blob_garbage']
  return tables.map((table) => rows.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.['n'])
}

const unpack = async (bytes: Buffer, holder = 'job/1', goOn = () => {}) =>
  storeTests(await openTestsZip(bufferSource(bytes)), store.blobs, { owner: OWNER, holder, goOn })

async function contents({ blob, files }: Awaited<ReturnType<typeof unpack>>): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { path, offset, size, sha256: hash } of files) {
    const bytes = size === 0 ? new Uint8Array() : ((await store.blobs.read(blob, offset, size))?.bytes ?? text('gone'))
    expect(sha256(bytes)).toBe(hash)
    found[path] = Buffer.from(bytes).toString('utf8')
  }
  return found
}

async function refusalOf(bytes: Buffer): Promise<string> {
  try {
    await unpack(bytes)
    return 'taken'
  } catch (error) {
    if (error instanceof ZipRefused) return error.message
    throw error
  }
}

test('the files of a zip are stored in natural order with their places and hashes', async () => {
  const files = { '10.in': 'ten', '2.in': 'two', '2.out': '', 'sub/1.in': 'é'.repeat(100_000), 'manifest.json': '{}' }
  const stored = await unpack(await goodZip(files))
  expect(stored.files.map(({ path, offset, size }) => [path, offset, size])).toEqual([
    ['tests/2.in', 0, 3],
    ['tests/2.out', 3, 0],
    ['tests/10.in', 3, 3],
    ['tests/manifest.json', 6, 2],
    ['tests/sub/1.in', 8, 200_000],
  ])
  expect(await contents(stored)).toEqual(
    Object.fromEntries(Object.entries(files).map(([name, value]) => [`tests/${name}`, value])),
  )
  expect(await store.blobs.isHeld(stored.blob, 'job/1')).toBe(true)
})

test('a folder tests at the top is all that counts, and junk of other systems is left aside', async () => {
  const zip = await goodZip({
    'tests/1.in': '1',
    'tests/.DS_Store': 'x',
    'readme.md': 'x',
    '__MACOSX/tests/._1.in': 'x',
    '.DS_Store': 'x',
  })
  expect(await contents(await unpack(zip))).toEqual({ 'tests/1.in': '1' })
  const flat = await goodZip({ '1.in': '1', '__MACOSX/._1.in': 'x', 'a/.DS_Store': 'x' })
  expect(await contents(await unpack(flat))).toEqual({ 'tests/1.in': '1' })
})

test('names are UTF-8 whether the zip says so or not, and come out composed', async () => {
  const composed = 'é.in'
  const zip = rawZip([
    { name: Buffer.from(composed.normalize('NFD')), data: text('1') },
    { name: Buffer.from([0x82, 0x2e, 0x6f, 0x75, 0x74]), data: text('2') },
    { name: 'folder/', attributes: 0o040755 * 65_536 },
    { name: 'folder/x.in', attributes: 0o100644 * 65_536 },
  ])
  expect(await contents(await unpack(zip))).toEqual({ 'tests/é.in': '1', 'tests/é.out': '2', 'tests/folder/x.in': '' })
})

test('the same tests are one blob, however they were packed', async () => {
  const one = await unpack(await goodZip({ 'b.in': 'b'.repeat(1_000), 'a.in': 'a' }))
  const two = await unpack(await goodZip({ 'tests/a.in': 'a', 'tests/b.in': 'b'.repeat(1_000) }, false))
  expect(two).toEqual(one)
})

test('a large zip is read from a blob in windows, and others are served meanwhile', async () => {
  const noise = randomBytes(3 * MIB + 7)
  const plain = Buffer.alloc(5 * MIB, 'abcdefgh\n')
  const zip = await goodZip({ 'a.in': noise, 'b.in': plain, 'c.in': 'end' })
  const upload = await store.blobs.begin(OWNER)
  for (let at = 0; at < zip.length; at += MIB) await store.blobs.write(upload, OWNER, at, zip.subarray(at, at + MIB))
  const { sha256: hash, bytes } = await store.blobs.commit(upload, OWNER, { holder: OWNER })
  let turns = 0
  const timer = setInterval(() => (turns += 1), 0)
  const source = blobSource(store.blobs, hash, bytes)
  let most = 0
  const watched = {
    size: source.size,
    read(offset: number, length: number) {
      most = Math.max(most, length)
      return source.read(offset, length)
    },
  }
  const stored = await storeTests(await openTestsZip(watched), store.blobs, { owner: OWNER, holder: 'job/2', goOn: () => {} })
  clearInterval(timer)
  expect(stored.files.map(({ path, size, sha256: each }) => [path, size, each])).toEqual([
    ['tests/a.in', noise.length, sha256(noise)],
    ['tests/b.in', plain.length, sha256(plain)],
    ['tests/c.in', 3, sha256(text('end'))],
  ])
  expect(most).toBeLessThanOrEqual(MIB)
  expect(turns).toBeGreaterThan(3)
  const read = await store.blobs.read(stored.blob, 3 * MIB, 100)
  expect(Buffer.compare(read?.bytes ?? noise, Buffer.concat([noise, plain]).subarray(3 * MIB, 3 * MIB + 100))).toBe(0)
})

const link = 0o120777 * 65_536
const one = (entry: Partial<RawEntry>): RawEntry[] => [
  { name: 'ok.in', data: text('ok') },
  { name: 'x.in', data: text('hello'), ...entry },
]
const good = rawZip(one({}))
const zeros = Buffer.alloc(MIB)

test.each<[what: string, bytes: Buffer | (() => Buffer), message: RegExp]>([
  ['nothing', Buffer.alloc(0), /^is not a zip$/],
  ['text', text('hello, I am not a zip at all, whatever my name may say'), /^is not a zip$/],
  ['a cut zip', good.subarray(0, good.length - 30), /^is cut short/],
  ['bytes after the end', rawZip(one({}), { tail: text('more') }), /^is cut short or damaged/],
  ['no files', rawZip([]), /^has no file/],
  ['a folder alone', rawZip([{ name: 'tests/' }]), /^has no file/],
  ['a parent', rawZip(one({ name: '../x.in' })), /^entry "\.\.\/x\.in" leaves/],
  ['a parent inside', rawZip(one({ name: 'a/../../x.in' })), /"a\/\.\.\/\.\.\/x\.in" leaves/],
  ['a parent in junk', rawZip(one({ name: '__MACOSX/../../x' })), /leaves/],
  ['an absolute path', rawZip(one({ name: '/etc/passwd' })), /"\/etc\/passwd" has an absolute path/],
  ['a drive', rawZip(one({ name: 'C:x.in' })), /"C:x\.in" has an absolute path/],
  ['a backslash', rawZip(one({ name: '..\\x.in' })), /"\.\.\\\\x\.in" has a backslash/],
  ['an empty name', rawZip(one({ name: '' })), /^entry "" has no name/],
  ['an empty part', rawZip(one({ name: 'a//x.in' })), /"a\/\/x\.in" has an empty part/],
  ['a dot', rawZip(one({ name: './x.in' })), /has an empty part or a \./],
  ['a NUL', rawZip(one({ name: 'a\u0000.in' })), /"a\\u0000\.in" has a control character/],
  ['a control character', rawZip(one({ name: Buffer.from('a\u001b[2J.in') })), /control character/],
  ['bad UTF-8', rawZip(one({ name: Buffer.from([0x61, 0xff]), flags: 0x800 })), /not UTF-8/],
  ['a long name', rawZip(one({ name: 'x'.repeat(256) })), /has too long a name/],
  [
    'a path of more bytes than a judge takes',
    rawZip(one({ name: `${'字'.repeat(80)}/`.repeat(5) + 'x.in' })),
    /has too long a name/,
  ],
  ['a deep path', rawZip(one({ name: '1/2/3/4/5/6/7/8/x.in' })), /is more than 8 folders deep/],
  ['a symbolic link', rawZip(one({ attributes: link })), /"x\.in" is a symbolic link/],
  ['a device', rawZip(one({ attributes: 0o020666 * 65_536 })), /"x\.in" is neither a file nor a folder/],
  ['a pipe', rawZip(one({ attributes: 0o010666 * 65_536 })), /is neither a file nor a folder/],
  ['an encrypted entry', rawZip(one({ flags: 1, size: 5, compressedSize: 17 })), /"x\.in" is encrypted|size mismatch/],
  ['strong encryption', rawZip(one({ flags: 0x41 })), /encrypted/],
  ['another compression', rawZip(one({ method: 93 })), /"x\.in" is compressed by method 93/],
  ['the same name twice', rawZip(one({ name: 'ok.in' })), /"ok\.in" is there twice/],
  ['the same name composed', rawZip([{ name: 'é.in' }, { name: 'é.in'.normalize('NFD') }]), /is there twice/],
  ['a file and a folder', rawZip([{ name: 'a' }, { name: 'a/b' }]), /"a" is both a file and a folder/],
  ['too large a file', rawZip(one({ method: 8, size: 65 * MIB })), /"x\.in" has 68157440 bytes, 64 MiB/],
  [
    'too much in all',
    () => rawZip(Array.from({ length: 9 }, (_, index) => ({ name: `${index}.in`, method: 8, size: 60 * MIB }))),
    /^unpacks to 566231040 bytes, 512 MiB/,
  ],
  [
    'a bomb',
    () =>
      rawZip([
        { name: 'a.in', method: 8, data: Buffer.alloc(60 * MIB) },
        { name: 'b.in', method: 8, data: Buffer.alloc(60 * MIB) },
      ]),
    /more than 200 times its size/,
  ],
  [
    'a size that says too little',
    rawZip(one({ method: 8, data: zeros, size: 1_000 })),
    /"tests\/x\.in" says that it has 1000 bytes, but it has more/,
  ],
  ['a size that says too much', rawZip(one({ method: 8, data: zeros, size: MIB + 1 })), /but it has only 1048576/],
  ['a stored size that lies', rawZip(one({ size: 4 })), /is damaged: entry 2/],
  ['a wrong checksum', rawZip(one({ crc: 7 })), /"tests\/x\.in" is damaged: its checksum/],
  ['deflated nonsense', rawZip(one({ method: 8 })).fill(0xff, 71, 73), /"tests\/x\.in" cannot be unpacked/],
  ['entries that overlap', rawZip(one({ offset: 0, name: 'y.in', data: text('ok'), method: 0 })), /overlaps with/],
  ['an entry in the list', rawZip(one({ compressedSize: 60, size: 60 })), /overlaps with the list/],
  ['an entry beyond the end', rawZip(one({ offset: 1_000_000 })), /"x\.in" is damaged or cut short/],
  ['an entry that is none', rawZip(one({ offset: 3 })), /"x\.in" is damaged or cut short/],
  ['fewer entries than it says', rawZip(one({}), { count: 3 }), /is damaged: entry 3/],
  [
    'too many entries',
    () => rawZip(Array.from({ length: 2_001 }, (_, index) => ({ name: `${index}.in` }))),
    /^has 2001 entries, 2000/,
  ],
])('%s is refused and leaves nothing behind', async (_, bytes, message) => {
  const before = await counts()
  expect(await refusalOf(typeof bytes === 'function' ? bytes() : bytes)).toMatch(message)
  expect(await counts()).toEqual(before)
})

test('a zip with any byte changed is taken with its right bytes or refused', async () => {
  const whole = await goodZip({ '1.in': 'hello hello hello', '1.out': 'x', 'a/b.in': 'world' })
  const right = Object.values(await contents(await unpack(whole)))
  const outcomes = new Set<string>()
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    const outcome = await unpack(changed, 'job/3')
      .then(contents)
      .catch((error: unknown) => error)
    if (outcome instanceof Error && !(outcome instanceof ZipRefused)) throw outcome
    outcomes.add(outcome instanceof ZipRefused ? 'refused' : 'taken')
    // Names and attributes may differ, bytes may not.
    if (!(outcome instanceof ZipRefused)) for (const value of Object.values(outcome as object)) expect(right).toContain(value)
  }
  expect([...outcomes].toSorted()).toEqual(['refused', 'taken'])
})

test('who stops meanwhile leaves nothing behind', async () => {
  const before = await counts()
  const zip = await goodZip({ 'a.in': randomBytes(3 * MIB) })
  let chunks = 0
  const goOn = () => {
    chunks += 1
    if (chunks === 2) throw new ToolError('unavailable', 'stopped')
  }
  await expect(unpack(zip, 'job/4', goOn)).rejects.toMatchObject({ code: 'unavailable' })
  expect(await counts()).toEqual(before)
})

test('texts are read with a bound, and must be texts', async () => {
  const zip = await openTestsZip(
    bufferSource(
      rawZip([
        { name: 'm.json', data: text('\uFEFF{}') },
        { name: 'b', data: Buffer.from([0xff]) },
      ]),
    ),
  )
  expect(await zip.text('tests/m.json', 10)).toBe('{}')
  await expect(zip.text('tests/m.json', 3)).rejects.toThrow(/has 5 bytes, 3 are the most/)
  await expect(zip.text('tests/b', 10)).rejects.toThrow(/not UTF-8/)
})

test('base64 is taken by its rules and bounded', () => {
  for (const bytes of [0, 1, 2, 3, 4, 100].map((size) => randomBytes(size))) {
    const encoded = bytes.toString('base64')
    expect(decodeZip(encoded)).toEqual(bytes)
    expect(decodeZip(encoded.replace(/=+$/, ''))).toEqual(bytes)
  }
  for (const wrong of ['a', 'aaaaa', 'aa=', '====', 'aaa=a', 'a b=', 'aaaa\n', 'data:application/zip;base64,aaaa', 'aa-_', 'é'])
    expect(() => decodeZip(wrong)).toThrow(/is not base64/)
  expect(() => decodeZip('a'.repeat(12 * MIB))).toThrow(/8 MiB/)
})

test('a refusal names the argument it came in', async () => {
  await expect(atField('tests_blob', () => openTestsZip(bufferSource(text('no'))))).rejects.toMatchObject({
    name: 'ToolError',
    code: 'invalid_argument',
    field: 'tests_blob',
    message: 'tests_blob: is not a zip',
  })
})
