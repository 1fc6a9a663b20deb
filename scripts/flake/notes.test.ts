import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { beginNotes, notesFolder, readNotes, remaining, withFinished, writeNotes } from './notes.ts'

const order = { paths: [], times: 2, load: false, seed: 1 }
const parts = ['a', 'b', 'c'].map((name) => ({ name, files: [`${name}.test.ts`] }))
const finished = (name: string) => ({ name, tests: 1, findings: { changing: [], failing: [], outside: [] }, logs: [] })

test('a run goes on after the last part that was finished', () => {
  using scratch = openScratch()
  const folder = notesFolder(scratch.root, '/clone')
  const begun = beginNotes(folder, { order, commit: 'x', parts })
  expect(remaining(begun).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  writeNotes(folder, withFinished(begun, finished('a')))
  const read = readNotes(folder)
  if (read === undefined) throw new Error('the notes are lost')
  expect(read.finished).toEqual([finished('a')])
  expect(remaining(read).map(({ name }) => name)).toEqual(['b', 'c'])
  expect(remaining({ ...read, order: { ...order, part: 'c' } }).map(({ name }) => name)).toEqual(['c'])
})

test('a fresh run forgets the one before, and another clone has its own', () => {
  using scratch = openScratch()
  const [folder, other] = [notesFolder(scratch.root, '/clone'), notesFolder(scratch.root, '/other')]
  beginNotes(folder, { order, commit: 'x', parts })
  writeFileSync(join(folder, 'old.log'), '')
  beginNotes(folder, { order, commit: 'y', parts })
  expect(existsSync(join(folder, 'old.log'))).toBe(false)
  expect(readNotes(other)).toBeUndefined()
})

test('notes that cannot be read, or are of another form, are none', () => {
  using scratch = openScratch({ 'notes.json': '{"form":1,' })
  expect(readNotes(scratch.root)).toBeUndefined()
  scratch.write('notes.json', { form: 0 })
  expect(readNotes(scratch.root)).toBeUndefined()
})
