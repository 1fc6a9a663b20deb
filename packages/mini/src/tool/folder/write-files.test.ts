import { chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fingerprintOpen } from './fingerprint.ts'
import { type Folder, openFolderOf } from './folder.ts'
import { type FileWrite, writeFiles } from './write-files.ts'

let root = ''
let folder: Folder
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-write-'))
  folder = openFolderOf(root)
})
afterEach(() => rmSync(root, { recursive: true }))

let names = 0
const newName = (): string => `n${names++}`
const seen = (path: string): string => {
  using file = folder.openFile(path, 'read-only')
  return fingerprintOpen(file.fd)
}
const fresh = (path: string, content: string): FileWrite => ({ path, content: Buffer.from(content), seen: null, like: null })

test('a failure midway says exactly what was written and leaves nothing half done', () => {
  for (const path of ['a', 'b', 'c']) writeFileSync(join(root, path), path)
  const writes: FileWrite[] = [
    { path: 'a', content: Buffer.from('A'), seen: seen('a'), like: null },
    { path: 'b', content: Buffer.from('B'), seen: 'what it was long ago', like: null },
    fresh('d/e', 'new'),
    { path: 'c', content: null, seen: seen('c'), like: null },
  ]
  const outcome = writeFiles(folder, writes, newName)
  expect(outcome).toMatchObject({ written: ['a'], removed: [], failure: { code: 'unsteady' } })
  expect(outcome.failure?.message).toContain('b was changed by somebody else')
  expect(['a', 'b', 'c'].map((path) => readFileSync(join(root, path), 'utf8'))).toEqual(['A', 'b', 'c'])
  expect(readdirSync(root).sort()).toEqual(['a', 'b', 'c', 'd'])
  expect(readdirSync(join(root, 'd'))).toEqual([])
})

test('a file that somebody made meanwhile is not written over', () => {
  writeFileSync(join(root, 'a'), 'theirs')
  expect(writeFiles(folder, [fresh('a', 'mine')], newName)).toMatchObject({ written: [], failure: { code: 'unsteady' } })
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('theirs')
})

test('when nothing could be written, folders that were made for it go again', () => {
  mkdirSync(join(root, 'x'))
  expect(writeFiles(folder, [fresh('p/q/r', '1'), fresh('x', '2')], newName)).toMatchObject({
    written: [],
    failure: { code: 'wrong_kind' },
  })
  expect(readdirSync(root)).toEqual(['x'])
})

test.runIf(process.getuid?.() === 0)('files keep their owner, and new ones belong to whoever owns the folder', () => {
  const uid = 54_321
  chownSync(root, uid, uid)
  writeFileSync(join(root, 'old'), 'x')
  chownSync(join(root, 'old'), 54_322, 54_323)
  const change: FileWrite = { path: 'old', content: Buffer.from('y'), seen: seen('old'), like: null }
  expect(writeFiles(folder, [change, fresh('new/er', '1')], newName)).toMatchObject({ written: ['old', 'new/er'], failure: null })
  const owners = ['old', 'new', 'new/er'].map((path) => [statSync(join(root, path)).uid, lstatSync(join(root, path)).gid])
  expect(owners).toEqual([
    [54_322, 54_323],
    [uid, uid],
    [uid, uid],
  ])
})
