import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_SERVER_LIMITS } from '../server-limits.ts'
import { type FileMethods, fileMethods } from './file-methods.ts'

let top: string
let root: string
let methods: FileMethods
const uri = (path: string): string => pathToFileURL(join(root, path)).href
const call = async (method: string, path: string, more: object = {}) => methods.get(method)?.({ path, ...more })

beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-fs-')))
  root = join(top, 'root')
  mkdirSync(join(root, 'folder'), { recursive: true })
  writeFileSync(join(top, 'secret'), 'secret')
  writeFileSync(join(root, 'file'), 'hello')
  symlinkSync('file', join(root, 'link'))
  symlinkSync(top, join(root, 'out'))
  symlinkSync('../secret', join(root, 'leak'))
  symlinkSync('../new', join(root, 'dangling'))
  methods = fileMethods([root], { ...DEFAULT_SERVER_LIMITS, fileBytes: 1_000, folderEntries: 5 })
})
afterAll(() => rmSync(top, { recursive: true }))

test('files are looked at, read, listed, written, made and removed with the shapes of the real one', async () => {
  expect(await call('fs/getMetadata', uri('link'))).toEqual({
    isDirectory: false,
    isFile: true,
    isSymlink: true,
    size: 5,
    createdAtMs: expect.any(Number),
    modifiedAtMs: expect.any(Number),
  })
  expect(await call('fs/getMetadata', uri(''))).toMatchObject({ isDirectory: true, isSymlink: false })
  expect(await call('fs/canonicalize', uri('link'))).toEqual({ path: uri('file') })
  expect(await call('fs/readFile', uri('link'))).toEqual({ dataBase64: 'aGVsbG8=' })
  expect(await call('fs/writeFile', uri('link'), { dataBase64: 'aGk=' })).toEqual({})
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('hi')
  expect(await call('fs/createDirectory', uri('folder/a/b'))).toEqual({})
  await call('fs/createDirectory', uri('folder/a/b'))
  await expect(call('fs/createDirectory', uri('folder/a'), { recursive: false })).rejects.toMatchObject({ code: -32_603 })
  await call('fs/writeFile', uri('folder/a/new'), { dataBase64: '' })
  expect(await call('fs/readDirectory', uri('folder/a'))).toEqual({
    entries: expect.arrayContaining([
      { fileName: 'b', isDirectory: true, isFile: false },
      { fileName: 'new', isDirectory: false, isFile: true },
    ]),
  })
  await expect(call('fs/remove', uri('folder/a'), { recursive: false })).rejects.toMatchObject({ code: -32_603 })
  expect(await call('fs/remove', uri('folder/a'))).toEqual({})
  await expect(call('fs/remove', uri('folder/a'), { force: false })).rejects.toMatchObject({ code: -32_004 })
  expect(await call('fs/remove', uri('folder/a'))).toEqual({})
})

test.each([
  ['fs/getMetadata', 'out'],
  ['fs/getMetadata', 'leak'],
  ['fs/canonicalize', 'out/secret'],
  ['fs/readFile', 'leak'],
  ['fs/readFile', 'out/secret'],
  ['fs/readFile', '../secret'],
  ['fs/readDirectory', 'out'],
  ['fs/writeFile', 'out/secret'],
  ['fs/writeFile', 'leak'],
  ['fs/createDirectory', 'out/made'],
  ['fs/createDirectory', '../made'],
  ['fs/remove', 'out/secret'],
  ['fs/remove', '../secret'],
  ['fs/remove', ''],
  ['fs/readFile', '../no-such-file'],
])('%s of %j does not leave the roots', async (method, path) => {
  await expect(call(method, uri(path), { dataBase64: '' })).rejects.toMatchObject({
    code: -32_600,
    message: expect.stringContaining('outside of the roots'),
  })
  expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('secret')
  expect(existsSync(join(top, 'made'))).toBe(false)
})

test('a link that leads nowhere is not written through', async () => {
  symlinkSync('nowhere', join(root, 'hanging'))
  await expect(call('fs/writeFile', uri('hanging'), { dataBase64: 'aGk=' })).rejects.toMatchObject({ code: -32_603 })
  expect(existsSync(join(root, 'nowhere'))).toBe(false)
  await expect(call('fs/writeFile', uri('dangling'), { dataBase64: 'aGk=' })).rejects.toMatchObject({ code: -32_600 })
  expect(existsSync(join(top, 'new'))).toBe(false)
  symlinkSync('../secret', join(root, 'removed'))
  expect(await call('fs/remove', uri('removed'))).toEqual({})
  expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('secret')
})

test('what is not there is -32004, what is not a file and what is too large is refused with words', async () => {
  await expect(call('fs/readFile', uri('nothing'))).rejects.toMatchObject({ code: -32_004 })
  await expect(call('fs/readFile', uri('folder'))).rejects.toMatchObject({ code: -32_600, message: 'path: it is not a file' })
  await expect(call('fs/readFile', 'relative')).rejects.toMatchObject({ code: -32_602 })
  await expect(call('fs/readDirectory', uri('file'))).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('Not a directory'),
  })
  writeFileSync(join(root, 'large'), 'x'.repeat(1_001))
  await expect(call('fs/readFile', uri('large'))).rejects.toThrow('1000 at most')
  await expect(call('fs/writeFile', uri('large'), { dataBase64: Buffer.alloc(1_001).toString('base64') })).rejects.toThrow(
    '1000 bytes at most',
  )
  mkdirSync(join(root, 'full'))
  for (let at = 0; at < 6; at += 1) writeFileSync(join(root, 'full', String(at)), '')
  await expect(call('fs/readDirectory', uri('full'))).rejects.toThrow('more than 5 entries')
})

test('without roots everything is refused', async () => {
  const none = fileMethods([], DEFAULT_SERVER_LIMITS)
  for (const method of none.values())
    await expect(method({ path: uri('file'), dataBase64: '' })).rejects.toThrow('without --root')
})
