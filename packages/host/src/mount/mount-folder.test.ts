import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mountFolder } from './mount-folder.ts'

test('a folder is used by its real path, below a root and nowhere else, whatever links lead there', async () => {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'parley-host-')))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  const at = (name: string): string => join(place, name)
  await mkdir(at('root/inner'), { recursive: true })
  await mkdir(at('root-beside'))
  await writeFile(at('root/file'), '')
  await symlink(at('root/inner'), at('to-inner'))
  await symlink(at('root-beside'), at('root/out'))
  await symlink(at('root'), at('to-root'))
  for (const folder of ['root', 'root/inner', 'to-inner', 'root/../root/inner'])
    expect(await mountFolder(at(folder), [at('to-root')])).toMatch(/\/root(\/inner)?$/)
  for (const folder of ['root-beside', 'root/out', '.', 'root/..'])
    await expect(mountFolder(at(folder), [at('root')])).rejects.toThrow('is not below a --root')
  await expect(mountFolder(at('root/file'), [at('root')])).rejects.toThrow('is not a folder')
  await expect(mountFolder(at('root/none'), [at('root')])).rejects.toThrow('ENOENT')
  await expect(mountFolder(at('root'), [])).rejects.toThrow('gives no folders')
})
