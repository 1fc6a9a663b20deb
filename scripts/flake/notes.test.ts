import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from '../testing/scratch.ts'
import { beginNotes, notesFolder, readNotes, remaining, resumeNotes, withFinished, writeNotes } from './notes.ts'

const order = { paths: [], times: 2, load: false, seed: 1 }
const parts = ['a', 'b', 'c'].map((name) => ({ name, files: [`${name}.test.ts`] }))
const commit = 'no commit'
const begun = { order, commit, parts }
const failing = [{ what: 'x', runs: [{ run: 1, seed: 1, words: 'no' }], of: 2 }]
const finished = (name: string) => ({ name, tests: 1, findings: { changing: [], failing, outside: [] }, logs: ['x.log'] })

/** Whoever had the run is gone: its claim is that of a process that has ended. */
async function leave(folder: string): Promise<void> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  writeFileSync(join(folder, 'claim-1'), `${child.pid} 1`)
}

async function openLeft(): Promise<Scratch & { readonly folder: string }> {
  const scratch = openScratch()
  chmodSync(scratch.root, 0o700)
  const { folder } = beginNotes(scratch.root, begun)
  await leave(folder)
  return { ...scratch, folder }
}

test('a run goes on after the last part that was finished', async () => {
  using left = await openLeft()
  const { folder } = left
  const notes = readNotes(folder)
  if (notes === undefined) throw new Error('the notes are lost')
  expect(remaining(notes).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  writeNotes(folder, withFinished(notes, finished('a')))
  const resumed = resumeNotes(left.root)
  expect(resumed).toEqual({ folder, notes: { ...notes, finished: [finished('a')] } })
  if (resumed === undefined) throw new Error('the notes are lost')
  expect(remaining(resumed.notes).map(({ name }) => name)).toEqual(['b', 'c'])
  expect(remaining({ ...resumed.notes, order: { ...order, part: 'c' } }).map(({ name }) => name)).toEqual(['c'])
  // It is ours now, and nobody else's.
  expect(resumeNotes(left.root)).toBeUndefined()
})

test('a fresh run forgets the one before, and another clone has its own', async () => {
  using left = await openLeft()
  const { folder } = beginNotes(left.root, begun)
  expect({ before: existsSync(left.folder), now: readdirSync(folder).toSorted() }).toEqual({
    before: false,
    now: ['claim-1', 'notes.json'],
  })
  expect(resumeNotes(notesFolder(left.root, '/other'))).toBeUndefined()
})

test('two runs at once have a folder each, and neither forgets the other or goes on with it', () => {
  using scratch = openScratch()
  const [one, other] = [beginNotes(scratch.root, begun), beginNotes(scratch.root, begun)]
  expect(one.folder).not.toBe(other.folder)
  expect([one, other].map(({ folder }) => readNotes(folder))).toEqual([one.notes, other.notes])
  expect(resumeNotes(scratch.root)).toBeUndefined()
})

const whole = { form: 2, ...begun, finished: [finished('a')] }
const named = (name: string) => ({ ...whole, parts: [{ name, files: ['a.test.ts'] }] })
const holding = (file: unknown) => ({ ...whole, parts: [{ name: 'a', files: [file] }] })

test.each<[string, string | object]>([
  ['cut off', '{"form":2,'],
  ['of another form', { ...whole, form: 1 }],
  ['nothing but a form', { form: 2 }],
  ['no object', 'null'],
  ['a list', '[]'],
  ['a part whose name leads out', named('../../../../VICTIM')],
  ['a part whose name is a path', named('a/b')],
  ['a part without a name', named('')],
  ['a part whose name has a line end', named('a\n')],
  ['a test that leads out', holding('../x.test.ts')],
  ['a test from the root', holding('/x.test.ts')],
  ['a file that is no test', holding('x.ts')],
  ['a file that is no text', holding(1)],
  ['a finished part whose name leads out', { ...whole, finished: [finished('../a')] }],
  ['a finished part without findings', { ...whole, finished: [{ ...finished('a'), findings: {} }] }],
  ['more times than allowed', { ...whole, order: { ...order, times: 1e9 } }],
  ['a commit that is none', { ...whole, commit: '\u001b[2J' }],
])('notes that cannot be ours are none: %s', async (_, text) => {
  using left = await openLeft()
  const write = (notes: string | object) => left.write(join(left.folder.slice(left.root.length), 'notes.json'), notes)
  write(whole)
  expect(readNotes(left.folder)).toEqual(whole)
  write(text)
  expect(readNotes(left.folder)).toBeUndefined()
  expect(resumeNotes(left.root)).toBeUndefined()
})

test('notes that others can write, or that are a link, are none', async () => {
  using left = await openLeft()
  const path = join(left.folder, 'notes.json')
  chmodSync(path, 0o666)
  expect(resumeNotes(left.root)).toBeUndefined()
  chmodSync(path, 0o600)
  chmodSync(left.folder, 0o777)
  expect(resumeNotes(left.root)).toBeUndefined()
  chmodSync(left.folder, 0o700)
  renameSync(path, join(left.root, 'elsewhere.json'))
  symlinkSync(join(left.root, 'elsewhere.json'), path)
  expect(resumeNotes(left.root)).toBeUndefined()
  renameSync(join(left.root, 'elsewhere.json'), path)
  expect(resumeNotes(left.root)).toBeDefined()
})
