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

test('a folder that others may write to is not trusted', async () => {
  const open = join(folder, 'open')
  await mkdir(open)
  await chmod(open, 0o777)
  await expect(compileHelper(open)).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    hint: expect.stringContaining('chmod 700'),
  })
})
