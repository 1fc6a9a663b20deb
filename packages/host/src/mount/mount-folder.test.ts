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
    expect(await mountFolder({ folder: at(folder), granted: place }, [at('to-root')])).toMatch(/\/root(\/inner)?$/)
  for (const folder of ['root-beside', 'root/out', '.', 'root/..'])
    await expect(mountFolder({ folder: at(folder), granted: place }, [at('root')])).rejects.toThrow('is not below a --root')
  await expect(mountFolder({ folder: at('root/file'), granted: place }, [at('root')])).rejects.toThrow('is not a folder')
  await expect(mountFolder({ folder: at('root/none'), granted: place }, [at('root')])).rejects.toThrow('ENOENT')
  await expect(mountFolder({ folder: at('root'), granted: place }, [])).rejects.toThrow('gives no folders')
})

test('a link in a granted folder opens no other folder below the same root, and the granted one may be a link itself', async () => {
  const place = await realpath(await mkdtemp(join(tmpdir(), 'parley-host-')))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  const at = (name: string): string => join(place, name)
  await mkdir(at('alice/inner'), { recursive: true })
  await mkdir(at('bob'))
  await symlink('../bob', at('alice/to-bob'))
  await symlink('inner', at('alice/to-inner'))
  await symlink('alice', at('to-alice'))
  const open = (folder: string, granted: string | null) => mountFolder({ folder: at(folder), granted }, [place])
  for (const folder of ['alice', 'alice/inner', 'alice/to-inner'])
    expect(await open(folder, at('alice'))).toMatch(/\/alice(\/inner)?$/)
  expect(await open('to-alice/inner', at('to-alice'))).toBe(at('alice/inner'))
  for (const granted of [at('alice'), at('alice/none'), null])
    await expect(open('alice/to-bob', granted)).rejects.toThrow('a link leads out of the folder that was granted')
})
