import { expect, test } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { checkDuplicates } from './duplicates.ts'
import { checkFolders } from './folders.ts'

const house = (folders: readonly string[]) => ({
  scope: '@parley',
  rooms: [{ name: 'a', imports: [], folders, does: 'a' }],
  owners: { imports: {}, harmless: {}, globals: {} },
})
const file = (...names: readonly string[]): string => names.map((name) => `import { x } from '${name}'\n`).join('')

test('a folder imports only those that stand before it', () => {
  const files = {
    'packages/a/src/index.ts': file('./job/job.ts'),
    'packages/a/src/job/job.ts': file('../log/log.ts'),
    'packages/a/src/log/log.ts': '',
  }
  using right = openScratch({ 'rooms.json': house(['log', 'job']), ...files })
  using wrong = openScratch({ 'rooms.json': house(['job', 'log']), ...files })
  expect(checkFolders(right.root)).toEqual([])
  expect(checkFolders(wrong.root)).toEqual([
    'packages/a: job/job.ts imports log/log.ts, whose folder stands above it in rooms.json',
  ])
})

test('every folder is named, and none that is not there', () => {
  using tree = openScratch({ 'rooms.json': house(['gone']), 'packages/a/src/job/job.ts': '' })
  expect(checkFolders(tree.root)).toEqual([
    'rooms.json: a has a folder job that its "folders" does not name',
    'rooms.json: a has no folder gone',
  ])
})

test('a circle is told once, with the imports that close it, also over a file beside the folders and further down', () => {
  using tree = openScratch({
    'rooms.json': house(['job', 'log']),
    'packages/a/src/errors.ts': file('./log/log.ts'),
    'packages/a/src/log/log.ts': file('../errors.ts'),
    'packages/a/src/job/b/b.ts': file('../c/c.ts'),
    'packages/a/src/job/c/c.ts': file('../b/b.ts'),
  })
  expect(checkFolders(tree.root)).toEqual([
    'packages/a: a circle: log/log.ts imports errors.ts, errors.ts imports log/log.ts',
    'packages/a: a circle: job/b/b.ts imports job/c/c.ts, job/c/c.ts imports job/b/b.ts',
  ])
})

test('what serves tests, and what was generated, may look anywhere', () => {
  using tree = openScratch({
    'rooms.json': house(['job', 'log']),
    'packages/a/src/job/job.ts': '',
    'packages/a/src/log/log.ts': file('../job/job.ts'),
    'packages/a/src/job/job.test.ts': file('../log/log.ts'),
    'packages/a/src/job/fixture/jobs.ts': file('../../log/log.ts'),
    'packages/a/src/job/generated/types.ts': file('../../log/log.ts'),
  })
  expect(checkFolders(tree.root)).toEqual([])
})

test('a folder has 25 files at most, tests not counted, and a room 12,000 lines', () => {
  const files = (count: number, ending: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`packages/a/src/job/f${index}${ending}`, '']))
  using full = openScratch({ 'rooms.json': house(['job']), ...files(25, '.ts'), ...files(3, '.test.ts') })
  using fuller = openScratch({ 'rooms.json': house(['job']), ...files(26, '.ts') })
  using long = openScratch({ 'rooms.json': house([]), 'packages/a/src/index.ts': 'x\n'.repeat(12_001) })
  expect(checkFolders(full.root)).toEqual([])
  expect(checkFolders(fuller.root)).toEqual(['packages/a/src/job has 26 files, 25 at most: give its nouns folders'])
  expect(checkFolders(long.root)).toEqual(['packages/a has 12001 lines, 12000 at most: it is two rooms'])
})

test('ten lines in a row that stand in two files are told; nine are not, nor imports, comments, tests and data', () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `const a${index} = ${index}\n`).join('')
  using tree = openScratch({
    'packages/a/src/one.ts': `import { x } from 'y'\n${lines(10)}`,
    'packages/a/src/two.ts': `other()\n// why\n${lines(10).replace('\n', '\n\n/** A sentence\n * on two lines. */\n  ')}`,
    'packages/a/src/nine.ts': lines(9),
    'packages/a/src/three.test.ts': lines(10),
    'examples/four.ts': lines(10),
  })
  expect(checkDuplicates(tree.root)).toEqual(['packages/a/src/two.ts:3 repeats packages/a/src/one.ts:2: make it one'])
})
