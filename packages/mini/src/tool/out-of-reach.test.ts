import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@parley/protocol'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Reach } from '@parley/agent'
import { BadArguments } from './toolbox.ts'
import { type Work, openWork } from './fixture/open-work.ts'
import { openFolderOf } from './folder/folder.ts'
import { outOfReach } from './folder/out-of-reach.ts'

const SECRET = 'sk-secret-of-the-person'
const PNG = Buffer.from(`\x89PNG\r\n\x1a\n${SECRET}`, 'latin1')
/** `state/data` is the data folder of this Parley, `.parley` that of another; `state/key` is a single file. */
const FILES = {
  '.parley/auth.json': SECRET,
  'parley.toml': `api_key = "${SECRET}"\n`,
  'sub/.parley/config.toml': SECRET,
  'state/data/auth.json': SECRET,
  'state/data/key.png': PNG,
  'state/data/deep/token': SECRET,
  'state/key': SECRET,
  'plain.txt': 'plain\n',
}
const REACHES: readonly Reach[] = ['read-only', 'workspace-write', 'full-access']

let work: Work
beforeEach(async () => {
  work = await openWork({ files: FILES, outOfReach: ['state/data', 'state/key'] })
})
afterEach(() => work[Symbol.asyncDispose]())

const at = (path: string): string => join(work.folder, path)
/** All that a call says, refusals of its arguments too. */
async function said(tool: string, args: JsonObject, reach: Reach = 'workspace-write'): Promise<string> {
  const { parts } = await work.call(tool, args, { reach })
  return parts.map((part) => (part.type === 'text' ? part.text : Buffer.from(part.url, 'base64').toString('latin1'))).join('\n')
}
const patch = (...lines: readonly string[]): JsonObject => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })

/** Links and second names that lead to what is out of reach, as somebody who may write the folder can make them. */
function makeDetours(): string[] {
  symlinkSync('state/data', at('by-link'))
  symlinkSync(at('state/data/auth.json'), at('by-file-link'))
  symlinkSync('.parley', at('innocent'))
  linkSync(at('state/data/auth.json'), at('by-hard-link'))
  linkSync(at('state/data/deep/token'), at('by-deep-hard-link'))
  linkSync(at('state/key'), at('by-key-link'))
  return ['by-link/auth.json', 'by-file-link', 'innocent/auth.json', 'by-hard-link', 'by-deep-hard-link', 'by-key-link']
}

const DIRECT = [
  '.parley/auth.json',
  './.parley/auth.json',
  'sub/../.parley/auth.json',
  'sub/.parley/config.toml',
  'parley.toml',
  'state/data/auth.json',
  'state//data/../data/deep/token',
  'state/data/key.png',
  'state/key',
]

test('nothing that is out of reach is read, in whatever way it is named and whatever the reach', async () => {
  for (const path of [...DIRECT, ...makeDetours()])
    for (const reach of REACHES)
      for (const named of [path, at(path)]) {
        const text = await said('read_file', { path: named }, reach)
        expect(text, `${named} with ${reach}`).toContain('out of reach')
        expect(text).not.toContain(SECRET)
      }
  expect(await said('read_file', { path: 'plain.txt' }, 'full-access')).toContain('plain')
})

test('what its owner removed is not made anew', async () => {
  rmSync(at('state/key'))
  rmSync(at('state/data'), { recursive: true })
  for (const path of ['state/key', './sub/../state/key', 'state/data', 'state/data/auth.json'])
    expect(await said('apply_patch', patch(`*** Add File: ${path}`, '+evil'))).toContain('out of reach')
  expect(existsSync(at('state/key')) || existsSync(at('state/data'))).toBe(false)
})

test('nor is it listed or searched', async () => {
  makeDetours()
  for (const reach of REACHES) {
    const listed = await said('list_files', { path: null, depth: 8 }, reach)
    expect(listed).toContain('state/data/ (out of reach)')
    expect(listed).toContain('.parley/ (out of reach)')
    // A link shows what it says, which is no secret.
    const names = listed.split('\n').filter((line) => !line.includes(' -> '))
    expect(names.join('\n')).not.toMatch(/auth\.json|token|config\.toml/)
    for (const path of ['state/data', '.parley', 'innocent', 'by-link', at('state/data/deep')])
      expect(await said('list_files', { path }, reach)).toContain('out of reach')
    expect(await said('search', { pattern: 'secret' }, reach)).toContain('nothing found')
  }
  for (const path of ['.parley', 'parley.toml', 'state/data/deep', 'state/key', 'by-hard-link', 'by-link', at('state/data')])
    expect(await said('search', { pattern: 'secret', path }, 'full-access')).toContain('out of reach')
})

test('nor is it written, moved or removed, and nobody makes what would configure Parley', async () => {
  const detours = makeDetours()
  const before = readFileSync(at('state/data/auth.json'), 'utf8')
  const fresh = [
    '.parley/new.toml',
    '.PARLEY/config.toml',
    'sub/Parley.toml',
    'new/.parley/config.toml',
    'state/data/new',
    'innocent/new',
  ]
  for (const path of fresh) expect(await written(patch(`*** Add File: ${path}`, '+x'))).toContain('out of reach')
  for (const path of [...DIRECT.slice(0, 6), ...detours]) {
    expect(await written(patch(`*** Add File: ${path}`, '+x'))).toContain('out of reach')
    expect(await written(patch(`*** Update File: ${path}`, '*** Move to: stolen', '@@', `-${SECRET}`, '+x'))).not.toContain(
      'done',
    )
  }
  for (const path of DIRECT.slice(0, 6)) expect(await written(patch(`*** Delete File: ${path}`))).toContain('out of reach')
  expect(await written(patch('*** Update File: plain.txt', '*** Move to: .parley/config.toml', '@@', '-plain', '+x'))).toContain(
    'out of reach',
  )
  expect(readFileSync(at('state/data/auth.json'), 'utf8')).toBe(before)
  expect(readdirSync(work.folder)).not.toContain('stolen')
  expect(readdirSync(at('.parley'))).toEqual(['auth.json'])
})

/** A patch as a conversation has it: what is asked about first, then done. */
async function written(args: JsonObject): Promise<string> {
  try {
    await work.toolbox.find('apply_patch')?.subject(args)
  } catch (error) {
    if (error instanceof BadArguments) return error.message
    throw error
  }
  return said('apply_patch', args, 'full-access')
}

test('it stays out of reach under another name, also when a folder above it is renamed', async () => {
  renameSync(at('state'), at('renamed'))
  for (const path of ['renamed/data/auth.json', 'renamed/key'])
    for (const reach of REACHES) expect(await said('read_file', { path }, reach)).toContain('out of reach')
  expect(await said('search', { pattern: 'secret' })).toContain('nothing found')
  renameSync(at('renamed/data'), at('data'))
  expect(await said('read_file', { path: 'data/auth.json' })).toContain('out of reach')
})

test('what comes there later is out of reach too', async () => {
  rmSync(at('state/data'), { recursive: true })
  mkdirSync(at('state/data'))
  writeFileSync(at('state/data/auth.json'), SECRET)
  linkSync(at('state/data/auth.json'), at('fresh'))
  for (const path of ['state/data/auth.json', 'fresh']) expect(await said('read_file', { path })).toContain('out of reach')
})

test('the environment of this process is not read with full access', async () => {
  for (const path of [
    '/proc/self/environ',
    `/proc/${process.pid}/environ`,
    '/proc/thread-self/environ',
    `/proc/self/root${at('state/key')}`,
  ])
    expect(await said('read_file', { path }, 'full-access')).toContain('out of reach')
})

test('a conversation cannot work in what is out of reach', () => {
  const base = mkdtempSync(join(tmpdir(), 'parley-reach-'))
  onTestFinished(() => rmSync(base, { recursive: true }))
  mkdirSync(join(base, 'data/deep'), { recursive: true })
  writeFileSync(join(base, 'data/deep/auth.json'), SECRET)
  symlinkSync(join(base, 'data/deep'), join(base, 'alias'))
  for (const path of ['data', 'data/deep', 'alias']) {
    const folder = openFolderOf(join(base, path), { outOfReach: outOfReach([join(base, 'data')]) })
    expect(() => folder.openFile('auth.json', 'read-only')).toThrow('out of reach')
    expect(() => folder.openFolder('.', 'read-only')).toThrow('out of reach')
    expect(() => folder.walkToWrite('new', 'follow')).toThrow('out of reach')
  }
})
