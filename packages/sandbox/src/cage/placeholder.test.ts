import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunOutcome, Sandbox } from '../index.ts'
import { type Scratch, scratch, shell, textOf } from '../testing/scratch.ts'
import type { WorkspaceProfile } from '../workspace/settle-profile.ts'

const isRoot = process.getuid?.() === 0
/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces'] as const).slice(isRoot ? 0 : 1)
let from: Scratch
let place: string
beforeAll(async () => {
  from = await scratch()
  place = realpathSync(mkdtempSync('/var/tmp/parley-placeholder-'))
  chmodSync(place, 0o755)
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

const errors = (outcome: RunOutcome): string => Buffer.from(outcome.stderr.bytes).toString()
/** A working folder with a folder `deep` in which two names are held. */
const at = (folder: string, writable = true): WorkspaceProfile => ({
  kind: 'workspace',
  folder,
  writable,
  placeholders: [
    { path: join(folder, 'deep/data'), kind: 'folder' },
    { path: join(folder, 'deep/settings'), kind: 'file' },
  ],
})
function made(name: string): string {
  const folder = join(place, name)
  mkdirSync(join(folder, 'deep'), { recursive: true })
  return folder
}
/** How often each of three opens a box and closes it: enough that some meet. */
const TIMES = 15
const ATTACK =
  'chmod 755 . deep; rm -rf deep/data deep/settings; mv deep away; mv deep/settings away; mkdir -p deep/data; echo evil > deep/data/x; echo evil > deep/settings; true'

describe.each(TIERS)('names that no program may make, in the tier %s', (tier) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await from.open({ tier })
  })

  test('are held for as long as any box is open, and nothing is left of them', async () => {
    const folder = made(`held-${tier}`)
    const one = await sandbox.openBox(at(folder))
    const two = await sandbox.openBox(at(folder))
    await one.run(shell(ATTACK))
    await one.close()
    const outcome = await two.run(shell(ATTACK))
    expect(errors(outcome)).toMatch(/busy/)
    expect(readdirSync(join(folder, 'deep')).toSorted()).toEqual(['data', 'settings'])
    expect([readdirSync(join(folder, 'deep/data')), readFileSync(join(folder, 'deep/settings'), 'utf8')]).toEqual([[], ''])
    await two.close()
    expect([readdirSync(folder), readdirSync(join(folder, 'deep'))]).toEqual([['deep'], []])
  })

  test('are held where the folder cannot be written, which its owner can change', async () => {
    const folder = made(`unwritable-${tier}`)
    chmodSync(join(folder, 'deep'), 0o555)
    const box = await sandbox.openBox(at(folder))
    await box.run(shell(ATTACK))
    expect([readdirSync(join(folder, 'deep/data')), readFileSync(join(folder, 'deep/settings'), 'utf8')]).toEqual([[], ''])
    await box.close()
    expect(readdirSync(join(folder, 'deep'))).toEqual([])
  })

  test.runIf(isRoot && tier === 'user-namespaces')(
    'are refused with words where they can neither be made nor be covered',
    async () => {
      const folder = made(`foreign-${tier}`)
      // The rights of a namespace end at a group that it does not know.
      chownSync(join(folder, 'deep'), 0, 54_321)
      chmodSync(join(folder, 'deep'), 0o555)
      await expect(sandbox.openBox(at(folder))).rejects.toThrow(/deep\/data is not there, and cannot be made to be covered/)
      chownSync(folder, 0, 54_321)
      chmodSync(folder, 0o555)
      await expect(sandbox.openBox({ kind: 'workspace', folder, writable: true })).rejects.toThrow(
        /\.git is not there, and cannot/,
      )
    },
  )

  test('are swapped for nothing else, and no renaming leaves a device', async () => {
    const folder = made(`swapped-${tier}`)
    const box = await sandbox.openBox(at(folder))
    const outcome = await box.run({ ...from.request('reaches', []), argv: ['/box/reaches', 'special'] })
    const lines = textOf(outcome).trim().split('\n')
    expect(lines.filter((line) => line.endsWith(' OPEN'))).toEqual([])
    expect(lines.filter((line) => /^(exchange|whiteout)-held/.test(line))).toHaveLength(8)
    const left = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const odd = left.filter((name) => {
      const { mode } = statSync(join(folder, name))
      return (mode & 0o6000) !== 0 || ![0o40000, 0o100000].includes(mode & 0o170000)
    })
    expect([odd, left]).toEqual([[], expect.arrayContaining(['.git', 'deep/data', 'deep/settings', 'from', 'plain'])])
    await box.close()
    expect(readdirSync(join(folder, 'deep'))).toEqual([])
  })

  test('stay where they are also when the working folder lies in another that is writable', async () => {
    const folder = made(`nested-${tier}/project`)
    const above = join(place, `nested-${tier}`)
    const profile: WorkspaceProfile = { ...at(join(folder, 'deep')), alsoWritable: [above], placeholders: [] }
    await using box = await sandbox.openBox(profile)
    const outcome = await box.run(
      shell('cd ../..; mv project away; mkdir -p project/deep/.git; echo evil > project/deep/.git/config'),
    )
    expect(errors(outcome)).toMatch(/busy/)
    expect([readdirSync(above), readdirSync(join(folder, 'deep/.git'))]).toEqual([['project'], []])
  })

  test('are there for whoever comes while the last box goes', async () => {
    const folder = made(`comes-${tier}`)
    const comeAndGo = async (): Promise<void> => {
      for (let times = 0; times < TIMES; times++) await (await sandbox.openBox(at(folder))).close()
    }
    await Promise.all([comeAndGo(), comeAndGo(), comeAndGo()])
    expect([readdirSync(folder), readdirSync(join(folder, 'deep'))]).toEqual([['deep'], []])
  })

  test('behind a link are refused, since a link can be replaced', async () => {
    const folder = made(`link-${tier}`)
    symlinkSync('../elsewhere', join(folder, 'deep/data'))
    await expect(sandbox.openBox(at(folder))).rejects.toThrow(/deep\/data is a link/)
  })

  test("that are the person's own are covered and stay, empty or not", async () => {
    const folder = made(`own-${tier}`)
    mkdirSync(join(folder, 'deep/data'))
    writeFileSync(join(folder, 'deep/settings'), '')
    await (await sandbox.openBox(at(folder))).close()
    expect(readdirSync(join(folder, 'deep')).toSorted()).toEqual(['data', 'settings'])
    writeFileSync(join(folder, 'deep/data/key'), 'told')
    writeFileSync(join(folder, 'deep/settings'), 'told')
    for (const writable of [true, false]) {
      await using box = await sandbox.openBox(at(folder, writable))
      expect(textOf(await box.run(shell(`cat deep/data/key deep/settings; ${ATTACK}`)))).toBe('')
    }
    expect([readFileSync(join(folder, 'deep/data/key'), 'utf8'), readFileSync(join(folder, 'deep/settings'), 'utf8')]).toEqual([
      'told',
      'told',
    ])
  })

  test('are not made for whoever only reads', async () => {
    const folder = made(`reads-${tier}`)
    await using box = await sandbox.openBox(at(folder, false))
    expect(errors(await box.run(shell('echo x > deep/settings')))).toMatch(/Read-only/)
    expect(existsSync(join(folder, 'deep/data'))).toBe(false)
  })
})
