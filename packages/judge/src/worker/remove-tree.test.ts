import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@parley/workspace'
import { expect, onTestFinished, test } from 'vitest'
import { LATE_PARTS } from '../fixture/late-parts.ts'
import { openWorkFolder } from './work-folder.ts'

const NAME = 'a'.repeat(200)
const LEVELS = 100
const NOBODY = 65_534

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tree-'))
  onTestFinished(() => removeTree(folder))
  return folder
}

/** A folder so deep that no call takes the path of its bottom: made from the bottom up, as a shell makes it by going down. */
function nest(folder: string): string {
  const top = join(folder, 'deep')
  mkdirSync(top)
  writeFileSync(join(top, 'file'), '')
  for (let level = 0; level < LEVELS; level += 1) {
    mkdirSync(join(folder, 'next'))
    renameSync(top, join(folder, 'next', NAME))
    renameSync(join(folder, 'next'), top)
  }
  return top
}

test('a folder that is nested too deeply for its path is removed, and nothing beyond it', async () => {
  const folder = emptyFolder()
  mkdirSync(join(folder, 'beside'))
  const tree = join(folder, 'tree')
  mkdirSync(tree)
  const top = nest(tree)
  symlinkSync(join(folder, 'beside'), join(top, 'link'))
  symlinkSync(join(folder, 'beside'), join(top, NAME, 'link'))
  await expect(rm(tree, { recursive: true })).rejects.toThrow('ENAMETOOLONG')
  await removeTree(tree)
  expect(readdirSync(folder)).toEqual(['beside'])
})

test('a judge starts although a dead one left such a folder', async () => {
  const folder = emptyFolder()
  mkdirSync(join(folder, 'judge-dead/jobs/job_9'), { recursive: true })
  nest(join(folder, 'judge-dead/jobs/job_9'))
  const work = await openWorkFolder(folder, 'aa', () => ({ release: () => {} }), LATE_PARTS)
  expect(existsSync(join(folder, 'judge-dead'))).toBe(false)
  const job = work.makeJob('job_1')
  nest(job)
  await work.removeJob('job_1')
  expect(existsSync(job)).toBe(false)
  await work.close()
})

test('folders that were locked are removed by somebody without rights beyond his own', () => {
  const folder = emptyFolder()
  const tree = join(folder, 'tree')
  mkdirSync(join(tree, 'a/b'), { recursive: true })
  writeFileSync(join(tree, 'a/b/file'), '')
  if (process.getuid?.() === 0)
    for (const path of ['', 'tree', 'tree/a', 'tree/a/b']) chownSync(join(folder, path), NOBODY, NOBODY)
  for (const path of ['tree/a/b', 'tree/a', 'tree']) chmodSync(join(folder, path), 0)
  const program = [
    `import { removeTree } from ${JSON.stringify(import.meta.resolve('@parley/workspace'))}`,
    `if (process.getuid() === 0) { process.setgid(${NOBODY}); process.setuid(${NOBODY}) }`,
    `await removeTree(${JSON.stringify(tree)})`,
  ].join('\n')
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(readdirSync(folder)).toEqual([])
})
