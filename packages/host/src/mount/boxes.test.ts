import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openBoxes } from './boxes.ts'
import { openHostSandbox } from './host-sandbox.ts'

test('where no sandbox can be opened a boxed program is refused with words, and it is tried again the next time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-boxes-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const cacheFolder = join(folder, 'in-the-way')
  await writeFile(cacheFolder, '')
  const toolchains = () => ({ readable: [], environment: { PATH: '/usr/bin' } })
  const folders = { dataFolder: join(folder, 'data'), cacheFolder }
  const boxes = openBoxes({ ...folders, toolchains, env: {} }, openHostSandbox(folders))
  await expect(boxes({ network: false })).rejects.toThrow(
    /^no program can be boxed on this host: .*; parley sandbox check says more$/,
  )
  await rm(cacheFolder)
  const { env } = await boxes({ network: false })
  expect(env).toEqual({ TMPDIR: '/tmp', PATH: '/usr/bin' })
})
