import { expect, test } from 'vitest'
import { openScratch } from '../testing/scratch.ts'
import { checkNouns } from './nouns.ts'

const house = (...names: readonly string[]) => ({
  scope: '@parley',
  rooms: names.map((name) => ({ name, imports: [], exempt: name === 'bench', does: name })),
  owners: { imports: {}, harmless: {}, globals: {} },
})
const NONE: ReadonlyMap<string, string> = new Map()

test('a type has its name in one room alone', () => {
  using tree = openScratch({
    'rooms.json': house('a', 'b', 'bench'),
    'packages/a/src/lease.ts': 'export interface Lease { x: 1 }\nexport type Seat = 1\nexport const both = 1\n',
    'packages/b/src/lease.ts': 'export class Lease {}\ninterface Seat { y: 1 }\nexport const both = 1\n',
    'packages/b/src/index.ts': "export { Lease } from './lease.ts'\nexport type { Seat } from '@parley/a'\n",
    'packages/b/src/fixture/seat.ts': 'export interface Seat { z: 1 }\n',
    'packages/b/src/lease.test.ts': 'export interface Seat { z: 1 }\n',
    'packages/bench/src/seat.ts': 'export interface Seat { z: 1 }\n',
  })
  expect(checkNouns(tree.root, NONE)).toEqual([
    'packages/a/src/lease.ts and packages/b/src/lease.ts both declare Lease: one noun, one meaning',
  ])
})

test('one that is listed with its reason may stand in two, and the list holds nothing else', () => {
  using tree = openScratch({
    'rooms.json': house('a', 'b'),
    'packages/a/src/lease.ts': 'export interface Lease { x: 1 }\n',
    'packages/b/src/lease.ts': 'export interface Lease { x: 1 }\n',
  })
  const twice = new Map([
    ['Lease', 'as it happens'],
    ['Seat', 'long ago'],
  ])
  expect(checkNouns(tree.root, twice)).toEqual(['scripts/check/nouns.ts lists Seat, which no two rooms declare any more'])
})

const GLOSSARY = `
| word | meaning | avoid |
| --- | --- | --- |
| **claim** | One judge taking a job. | \`checkout\`, file |
| **gate** | Every call passes it. | guard (that is another, and here), \`ACL\` |
| **guard** | Another. | filter |

Also avoided in names: \`utils\`, \`Manager\`, \`handleX\`, \`V2\`. They say nothing.
`

test('no exported name has a word that the glossary avoids', () => {
  using tree = openScratch({
    'rooms.json': house('a'),
    'docs/glossary.md': GLOSSARY,
    'packages/a/src/fine.ts':
      'export const file = 1\nexport class Managers {}\nexport function handles() {}\nexport const IPv4 = 1\nexport class HandleBox {}\nconst checkout = 1\n',
    'packages/a/src/odd.ts': [
      'export const JOB_CHECKOUTS = 1',
      'export class JobManager {}',
      'export function handleJob() {}',
      'export type AclRule = 1',
      'export class TalkV2 {}',
      'export const jobUtils = 1, other = 2',
    ].join('\n'),
  })
  expect(checkNouns(tree.root, NONE)).toEqual([
    'packages/a/src/odd.ts exports JOB_CHECKOUTS: the glossary avoids "checkout", say claim',
    'packages/a/src/odd.ts exports JobManager: the glossary avoids "Manager", it says nothing about what is inside',
    'packages/a/src/odd.ts exports handleJob: the glossary avoids "handleX", it says nothing about what is inside',
    'packages/a/src/odd.ts exports AclRule: the glossary avoids "ACL", say gate',
    'packages/a/src/odd.ts exports TalkV2: the glossary avoids "V2", it says nothing about what is inside',
    'packages/a/src/odd.ts exports jobUtils: the glossary avoids "utils", it says nothing about what is inside',
  ])
})

test('the glossary has each word once, and says what the avoided ones of its own are', () => {
  using tree = openScratch({
    'rooms.json': house('a'),
    'docs/glossary.md': `${GLOSSARY}\n| **claim** | Again. | gate, guard (that is another) |\n`,
  })
  expect(checkNouns(tree.root, NONE)).toEqual([
    'docs/glossary.md: claim is explained twice',
    'docs/glossary.md: claim avoids gate, which is a word of ours: say what it is instead, in brackets',
  ])
})
