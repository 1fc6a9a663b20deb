import { expect, test } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { checkNames } from './names.ts'
import { checkReadmes } from './readmes.ts'
import { checkSizes } from './sizes.ts'
import { checkWords } from './words.ts'

test('a source file has 300 lines at most, a test 500', () => {
  const lines = (count: number): string => 'x\n'.repeat(count)
  using tree = openScratch({
    'a.ts': lines(300),
    'b.ts': lines(301),
    'c.test.ts': lines(500),
    'd.test.ts': lines(501),
    'e.json': lines(900),
    'node_modules/f.ts': lines(900),
  })
  expect(checkSizes(tree.root)).toEqual([
    'b.ts has 301 lines, 300 at most: split it',
    'd.test.ts has 501 lines, 500 at most: split it',
  ])
})

// In two halves, because this file is checked too.
test.each([
  ['TO', 'DO later', 'a.ts'],
  ['FIX', 'ME', 'a.md'],
  ['see /wor', 'k/main/x', 'a.md'],
  ['fixes issue', ' #12', 'a.ts'],
  ['test.on', "ly('x')", 'a.test.ts'],
  ['describe.sk', "ip('x')", 'a.test.ts'],
  ['np', 'x parley job list', 'a.md'],
  ['npm install -', 'g parley', 'a.ts'],
  ['np', 'x -y parley-mcp', 'README.md'],
])('%s%s does not stay in %s', (start, rest, path) => {
  using tree = openScratch({ [path]: `fine\n${start}${rest}\n` })
  expect(checkWords(tree.root)).toHaveLength(1)
  expect(checkWords(tree.root)[0]).toMatch(`${path}:2 `)
})

test('words that only look alike may stay', () => {
  using tree = openScratch({ 'a.ts': 'homework/ todo list, chunk.skip(3), a/work/b, npx parley-codex, npm run parley' })
  expect(checkWords(tree.root)).toEqual([])
})

test('names are in kebab-case and say something', () => {
  const paths = [
    'packages/a/src/job-list.ts',
    'packages/a/src/0.44/wire.ts',
    'packages/a/src/jobList.ts',
    'packages/a/src/utils/text.ts',
    'scripts/helpers.ts',
    'README.md',
    'packages/a/src/fixture/Odd_Name.ts',
    'packages/a/fixtures/hostile/spins.c',
    'packages/a/fixtures/hostile/sleeps.c',
    'packages/a/src/job/support/jobs.ts',
  ]
  expect(checkNames(paths)).toEqual([
    'packages/a/fixtures: what serves tests is in "fixture" or "testing"',
    'packages/a/src/job/support: what serves tests is in "fixture" or "testing"',
    'packages/a/src/jobList.ts: "jobList" is not kebab-case',
    'packages/a/src/utils/text.ts: "utils" says nothing about what is inside',
    'scripts/helpers.ts: "helpers" says nothing about what is inside',
  ])
})

test('every room that exists has a page about itself, of 600 words at most', () => {
  const room = (name: string, planned = false) => ({ name, planned, imports: [], does: name })
  using tree = openScratch({
    'rooms.json': {
      scope: '@parley',
      rooms: [room('a'), room('b'), room('c'), room('d', true)],
      owners: { imports: {}, harmless: {}, globals: {} },
    },
    'packages/a/README.md': '# two words\n'.repeat(300),
    'packages/b/README.md': 'x '.repeat(601),
  })
  expect(checkReadmes(tree.root)).toEqual([
    'packages/b/README.md has 601 words, 600 at most',
    'packages/c/README.md is missing: what the room owns, must not do, and what always holds',
  ])
})
