import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileHelper } from './compile-helper.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-sandbox-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the helper is compiled once, however many ask at the same time', async () => {
  const cache = join(folder, 'cache')
  const [one, two] = await Promise.all([compileHelper(cache), compileHelper(cache)])
  expect(one).toBe(two)
  expect((await readdir(cache)).map((name) => join(cache, name))).toEqual([one])
  expect(await compileHelper(cache)).toBe(one)
})

test.each([
  ['itself', 'open'],
  ['above it', 'open/below/cache'],
])('a folder that others may write to, %s, is not trusted', async (_where, path) => {
  const open = join(folder, 'open')
  await mkdir(open, { recursive: true })
  await chmod(open, 0o777)
  await expect(compileHelper(join(folder, path))).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining(`${open} can be written by everybody`),
    hint: expect.stringContaining('PARLEY_CACHE'),
  })
})
