import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_SERVER_LIMITS } from '../server-limits.ts'
import { type FileMethods, fileMethods } from './file-methods.ts'

let top: string
let root: string
let methods: FileMethods
const call = async (method: string, path: string, more: object = {}) =>
  methods.get(method)?.({ path: pathToFileURL(path).href, dataBase64: '', ...more })
const METHODS = ['getMetadata', 'canonicalize', 'readFile', 'readDirectory', 'writeFile', 'createDirectory', 'remove']

beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-outside-')))
  root = join(top, 'root')
  mkdirSync(join(root, 'folder'), { recursive: true })
  mkdirSync(join(top, 'dark'))
  writeFileSync(join(top, 'secret'), 'secret')
  writeFileSync(join(root, 'file'), 'hello')
  symlinkSync('loop', join(top, 'loop'))
  symlinkSync(root, join(top, 'alias'))
  symlinkSync(top, join(root, 'out'))
  symlinkSync('../../root/../loop', join(root, 'folder', 'to-loop'))
  symlinkSync('../secret', join(root, 'leak'))
  symlinkSync('../missing', join(root, 'dangling'))
  symlinkSync('dangling', join(root, 'chain'))
  symlinkSync('round', join(root, 'round'))
  symlinkSync('../root/file', join(root, 'back'))
  chmodSync(join(top, 'dark'), 0)
  methods = fileMethods([root], DEFAULT_SERVER_LIMITS)
})
afterAll(() => {
  // Who is not root cannot remove what may not be entered.
  chmodSync(join(top, 'dark'), 0o700)
  rmSync(top, { recursive: true })
})

test.each(METHODS)(
  'fs/%s tells nothing of what lies outside: there, not there, a file on the way, a loop, no entry',
  async (name) => {
    for (const path of ['secret', 'missing', 'missing/more', 'secret/more', 'dark/more', 'loop/more', 'root/../missing'])
      await expect(call(`fs/${name}`, `${root}/out/${path}`)).rejects.toMatchObject({
        code: -32_600,
        message: `path: ${join(root, 'out', path)} is outside of the roots of this executor`,
      })
  },
)

// A link itself may be removed, wherever it leads.
test.each(METHODS.filter((name) => name !== 'remove'))(
  'fs/%s tells nothing of where a link out of the roots ends',
  async (name) => {
    for (const path of ['leak', 'dangling', 'chain', 'folder/to-loop'])
      await expect(call(`fs/${name}`, join(root, path))).rejects.toMatchObject({
        code: -32_600,
        message: `path: ${join(root, path)} is outside of the roots of this executor`,
      })
  },
)

test('below the roots it is told what is wrong', async () => {
  await expect(call('fs/getMetadata', join(root, 'missing/more'))).rejects.toMatchObject({ code: -32_004 })
  await expect(call('fs/getMetadata', join(root, 'out/root/missing'))).rejects.toMatchObject({ code: -32_004 })
  await expect(call('fs/getMetadata', join(root, 'file/more'))).rejects.toThrow('Not a directory')
  await expect(call('fs/getMetadata', join(root, 'file/'))).rejects.toThrow('Not a directory')
  await expect(call('fs/getMetadata', join(root, 'round'))).rejects.toThrow('Too many levels of symbolic links')
})

test('a path that comes to a root by links is one of the root', async () => {
  expect(await call('fs/canonicalize', join(root, 'back'))).toEqual({ path: pathToFileURL(join(root, 'file')).href })
  expect(await call('fs/getMetadata', join(top, 'alias'))).toMatchObject({ isDirectory: true, isSymlink: true })
  expect(await call('fs/getMetadata', join(top, 'alias/'))).toMatchObject({ isDirectory: true, isSymlink: false })
  expect(await call('fs/getMetadata', join(top, 'alias/file'))).toMatchObject({ isFile: true, isSymlink: false })
  await expect(call('fs/readFile', join(top, 'alias/new'))).rejects.toMatchObject({ code: -32_004 })
  expect(await call('fs/writeFile', join(top, 'alias/new'), { dataBase64: 'aGk=' })).toEqual({})
  expect(await call('fs/readFile', join(root, 'new'))).toEqual({ dataBase64: 'aGk=' })
})

test('the top of all is not removed, even where it is the root', async () => {
  const all = fileMethods(['/'], DEFAULT_SERVER_LIMITS)
  await expect(all.get('fs/remove')?.({ path: 'file:///', recursive: false })).rejects.toMatchObject({ code: -32_600 })
  expect(await all.get('fs/getMetadata')?.({ path: 'file:///' })).toMatchObject({ isDirectory: true })
  expect(await all.get('fs/readFile')?.({ path: pathToFileURL(join(root, 'file')).href })).toEqual({ dataBase64: 'aGVsbG8=' })
})
