import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFile, openStore } from '../index.ts'

const LOCKS = `
  import { lockFile } from ${JSON.stringify(import.meta.resolve('@parley/database'))}
  lockFile(process.argv[1])
  console.log('locked')
  setInterval(() => undefined, 1_000)`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a file has one owner in this process and among all, and the lock dies with its process', async () => {
  const path = join(folder, 'lock')
  const owner = spawn(process.execPath, ['--input-type=module', '-e', LOCKS, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(owner.stdout, 'data')
  expect(() => lockFile(path)).toThrow(expect.objectContaining({ code: 'locked' }))
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const lock = lockFile(path)
  expect(() => lockFile(path)).toThrow(expect.objectContaining({ code: 'locked' }))
  lock.release()
  lockFile(path).release()
})

test('a second store on the same file is refused at once, and works after the first is closed', async () => {
  const options = { url: join(folder, 'a.db'), lockPath: join(folder, 'lock') }
  const store = await openStore(options)
  await expect(openStore(options)).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringMatching(/ is held by another process$/),
  })
  await store.settings.setOnce('k', 'v')
  await store.close()
  await store.close()
  await expect(store.settings.get('k')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' })
  const again = await openStore(options)
  expect(await again.settings.get('k')).toBe('v')
  await again.close()
})
