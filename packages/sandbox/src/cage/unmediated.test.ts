import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../index.ts'
import { ROOMY, type Scratch, scratch, textOf } from '../testing/scratch.ts'

/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces', 'landlock'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
const MIB = 1024 * 1024

let from: Scratch
/** Not below /tmp, where a box has its own; anybody may read and write all of it, so that nothing but the box is in the way. */
let place: string
let paths: readonly string[]

beforeAll(async () => {
  from = await scratch()
  place = realpathSync(mkdtempSync('/var/tmp/parley-unmediated-'))
  mkdirSync(join(place, 'folder'))
  writeFileSync(join(place, 'file'), 'kept')
  paths = [join(place, 'folder'), join(place, 'file')]
  for (const path of [place, join(place, 'folder')]) chmodSync(path, 0o777)
  chmodSync(join(place, 'file'), 0o666)
  const attribute = `import os, sys\nfor path in sys.argv[1:]: os.setxattr(path, 'user.parley', b'told')`
  execFileSync('python3', ['-c', attribute, ...paths])
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

/** A queue or a set of semaphores of this machine that anybody may use, by its number. */
function makeNumbered(kind: '-Q' | '-S'): string {
  const said = execFileSync('/usr/bin/ipcmk', kind === '-S' ? ['-S', '1', '-p', '0666'] : ['-Q', '-p', '0666'], {
    encoding: 'utf8',
  })
  return /(\d+)\s*$/.exec(said)?.[1] ?? ''
}

const isOpen = (line: string): boolean => line.endsWith(' OPEN')

describe.each(TIERS)('in the tier %s', (tier) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await from.open({ tier })
  })

  test('a judged program is told of no change beyond its box, sees no attribute there and empties no file', async () => {
    await using box = await sandbox.openBox({ kind: 'judge' })
    const lines = textOf(await box.run(from.request('reaches', ['unmediated', ...paths])))
      .trim()
      .split('\n')
    expect(lines).toHaveLength(12)
    expect(lines.filter(isOpen)).toEqual([])
  })

  test('what is shown to be read is not emptied', async () => {
    await using box = await sandbox.openBox({ kind: 'judge', readable: [place] })
    const lines = textOf(await box.run(from.request('reaches', ['unmediated', ...paths]))).split('\n')
    expect(lines.filter((line) => /^(emptied|cut) /.test(line) && isOpen(line))).toEqual([])
    expect(readFileSync(join(place, 'file'), 'utf8')).toBe('kept')
  })

  test('queues and semaphores of the machine are out of reach', async () => {
    const [semaphores, queue] = [makeNumbered('-S'), makeNumbered('-Q')]
    try {
      await using box = await sandbox.openBox({ kind: 'judge' })
      const lines = textOf(await box.run(from.request('reaches', ['numbered', semaphores, queue])))
        .trim()
        .split('\n')
      expect([lines.length, lines.filter(isOpen)]).toEqual([6, []])
    } finally {
      execFileSync('/usr/bin/ipcrm', ['-s', semaphores, '-q', queue])
    }
  })

  test.runIf(tier !== 'landlock')('a command in a working folder watches its files', async () => {
    const folder = join(place, `work-${tier}`)
    mkdirSync(folder)
    const node = realpathSync(process.execPath)
    const watch = `const fs = require('node:fs')
const watcher = fs.watch('.', (_, name) => { console.log(name); watcher.close() })
fs.writeFileSync('seen', '')`
    await using box = await sandbox.openBox({ kind: 'workspace', folder, writable: true, readable: [node] })
    const limits = { ...ROOMY, memoryBytes: 512 * MIB, cpuMs: 20_000 }
    expect(textOf(await box.run({ argv: [node, '-e', watch], limits }))).toMatch(/^seen\n/)
  })

  test.runIf(tier === 'landlock')('what is seen of other files all the same is said', () => {
    expect(sandbox.report.missing.join('\n')).toMatch(/whether a path is there, .*: needs user namespaces or root/)
  })
})
