import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DEFAULT_SERVER_LIMITS } from '../server-limits.ts'
import { type FileMethods, fileMethods } from './file-methods.ts'
import { HeldFolder, removeTree } from './held-folder.ts'
import { Roots } from './held-path.ts'

let top: string
let root: string
let methods: FileMethods
const call = async (method: string, path: string) => methods.get(method)?.({ path: pathToFileURL(join(root, path)).href })
/** What an attacker does in one step: the folder is gone and a link out of the roots has its name. */
const swap = (path: string): void => {
  renameSync(join(root, path), join(top, 'was'))
  symlinkSync(join(top, 'outside'), join(root, path))
}
/** Where a folder of this name has been looked at and found to be no link, and is opened now. */
const swapAtOpen = (name: string, path: string): void => {
  const open = HeldFolder.open.bind(HeldFolder)
  vi.spyOn(HeldFolder, 'open').mockImplementation(async (at) => {
    if (at.toString().endsWith(`/${name}`) && !existsSync(join(top, 'was'))) swap(path)
    return open(at)
  })
}
/** As soon as this path has been resolved, checked and held. */
const swapOnce = (asked: string, path = asked): void => {
  const roots = new Roots([root])
  const existing = roots.existing.bind(roots)
  vi.spyOn(Roots.prototype, 'existing').mockImplementation(async (given) => {
    const held = await existing(given)
    if (given === join(root, asked)) swap(path)
    return held
  })
}

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-swap-')))
  root = join(top, 'root')
  mkdirSync(join(root, 'a/d/sub'), { recursive: true })
  mkdirSync(join(top, 'outside/d/SECRET'), { recursive: true })
  writeFileSync(join(top, 'outside/file'), 'secret')
  methods = fileMethods([root], DEFAULT_SERVER_LIMITS)
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(top, { recursive: true })
})

test.each(['fs/getMetadata', 'fs/readDirectory', 'fs/readFile'])(
  '%s does not follow a folder that has become a link',
  async (method) => {
    swapOnce('a/d')
    await expect(call(method, 'a/d')).rejects.toMatchObject({ code: -32_603 })
    expect(existsSync(join(top, 'was/sub'))).toBe(true)
  },
)

test('a folder above that has become a link leads nowhere else: what is held is what was found', async () => {
  swapOnce('a/d', 'a')
  expect(await call('fs/readDirectory', 'a/d')).toEqual({ entries: [{ fileName: 'sub', isDirectory: true, isFile: false }] })
})

test('a link in a listed folder tells nothing of a folder that has become a link', async () => {
  symlinkSync('a/d', join(root, 'link'))
  swapOnce('link', 'a/d')
  expect(await call('fs/readDirectory', '')).toEqual({
    entries: expect.arrayContaining([{ fileName: 'link', isDirectory: false, isFile: false }]),
  })
})

test('a folder that has become a link is not taken for one that is to be made', async () => {
  swapOnce('a/d')
  await expect(call('fs/createDirectory', 'a/d')).rejects.toThrow('something else is there')
})

test('whether something outside is a link is not looked at', async () => {
  symlinkSync('nowhere', join(top, 'outside/sub'))
  swapOnce('a/d/sub', 'a/d')
  expect(await call('fs/getMetadata', 'a/d/sub')).toMatchObject({ isDirectory: true, isSymlink: false })
})

test.each(['d', 'missing'])(
  'a folder on the way that becomes a link is not followed, whether %s is there or not',
  async (name) => {
    swapAtOpen('a', 'a')
    await expect(call('fs/getMetadata', `a/${name}`)).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringContaining('Not a directory'),
    })
    expect(existsSync(join(top, 'was'))).toBe(true)
  },
)

test('a folder that becomes a link while all is removed does not have what it leads to removed', async () => {
  swapAtOpen('d', 'a/d')
  await expect(call('fs/remove', 'a')).rejects.toMatchObject({ code: -32_603 })
  await expect(removeTree(join(root, 'a/d'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  expect(readdirSync(join(top, 'outside'))).toEqual(['d', 'file'])
})

test('all of a folder is removed: links, not what they lead to, and names that are no text', async () => {
  symlinkSync(join(top, 'outside'), join(root, 'a/out'))
  writeFileSync(Buffer.concat([Buffer.from(join(root, 'a/d/')), Buffer.from([0xff, 0xfe])]), '')
  expect(await call('fs/remove', 'a')).toEqual({})
  expect(readdirSync(root)).toEqual([])
  expect(readdirSync(join(top, 'outside'))).toEqual(['d', 'file'])
})

test('nothing stays open', async () => {
  symlinkSync('../outside', join(root, 'out'))
  // Counted by folder, not by descriptor of the process: other tests may run in it.
  const opened = vi.spyOn(HeldFolder, 'open')
  const closed = vi.spyOn(HeldFolder.prototype, Symbol.dispose)
  for (const method of ['getMetadata', 'canonicalize', 'readDirectory', 'readFile', 'remove'])
    for (const path of ['a/d', 'a/missing', 'out/file', 'out/missing', ''])
      await call(`fs/${method}`, path).catch(() => undefined)
  const folders = opened.mock.settledResults.filter(({ type }) => type === 'fulfilled').map(({ value }) => value)
  expect(folders.length).toBeGreaterThan(25)
  expect(closed.mock.contexts).toHaveLength(folders.length)
  expect(new Set(closed.mock.contexts)).toEqual(new Set(folders))
})
