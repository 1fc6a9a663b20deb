import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from './make-folder.ts'

test('folders are made for their owner, twice does no harm, and what cannot be is an error at once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-folder-'))
  try {
    for (let times = 0; times < 2; times += 1) makeFolder(join(folder, 'a/b'))
    expect([statSync(join(folder, 'a')).mode & 0o777, statSync(join(folder, 'a/b')).mode & 0o777]).toEqual([0o700, 0o700])
    writeFileSync(join(folder, 'file'), '')
    expect(() => makeFolder(join(folder, 'file'))).toThrow(/EEXIST/)
    expect(() => makeFolder(join(folder, 'file/a'))).toThrow(/EEXIST|ENOTDIR/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.runIf(process.platform === 'linux')('a folder that takes none, such as /proc, is an error too', () => {
  expect(() => makeFolder('/proc/no-such/a')).toThrow(/ENOENT|EACCES|EPERM/)
})
