import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRules } from './ignore-rules.ts'

const ROUNDS = 200
const PATTERNS = 12
const PIECES = [
  'a',
  'b',
  'ab',
  '*',
  '**',
  '***',
  '?',
  '/',
  '/',
  '**/',
  '/**',
  '[ab]',
  '[!a]',
  '[^b]',
  '[a-c]',
  '[',
  ']',
  '[]a]',
  '[[:alpha:]]',
  '[[:no:]]',
  '[a/b]',
  '[a\\]]',
  '\\a',
  '\\*',
  '\\',
  '.',
  ' ',
  '\\ ',
  '!',
  '#',
  'é',
  '-',
  '[a-]',
  '[b-a]',
]
const NAMES = ['a', 'b', 'ab', 'a.b', 'abc', 'é', 'a b', '*', ']', '#a', '!a', 'a ', 'c-']

let folder: string
let files: string[]
let folders: Set<string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ignore-'))
  execFileSync('git', ['init', '-q', folder])
  const random = randomOf(7)
  const pick = <T>(all: readonly T[]): T => {
    const one = all[Math.floor(random() * all.length)]
    if (one === undefined) throw new TypeError('nothing to pick from')
    return one
  }
  const paths = new Set(NAMES.map((name) => `file-${name}`).concat(NAMES.map((name) => `${name}/${name}`)))
  while (paths.size < 120)
    paths.add(
      [pick(NAMES), pick(NAMES), pick(NAMES), pick(['x', 'y', ...NAMES.map((name) => `${name}1`)])]
        .slice(Math.floor(random() * 3))
        .join('/'),
    )
  for (const path of paths) await mkdir(dirname(join(folder, path)), { recursive: true }).catch(() => undefined)
  files = []
  for (const path of paths)
    if (
      await writeFile(join(folder, path), '').then(
        () => true,
        () => false,
      )
    )
      files.push(path)
  folders = new Set(
    files.flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, at, all) => all.slice(0, at + 1).join('/')),
    ),
  )
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('files are left out that git leaves out, whatever the patterns', { timeout: 120_000 }, async () => {
  const random = randomOf(11)
  for (let round = 0; round < ROUNDS; round++) {
    const lines = Array.from({ length: PATTERNS }, () =>
      Array.from({ length: 1 + Math.floor(random() * 5) }, () => PIECES[Math.floor(random() * PIECES.length)] ?? '').join(''),
    )
    const text = `${lines.join('\n')}\n`
    await writeFile(join(folder, '.gitignore'), text)
    expect({ text, left: ignoredByUs(text) }).toEqual({ text, left: ignoredByGit() })
  }
})

function ignoredByGit(): string[] {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
  const asked = spawnSync('git', ['check-ignore', '--no-index', '--stdin', '-z'], {
    cwd: folder,
    env,
    input: files.join('\0'),
    encoding: 'utf8',
  })
  return asked.stdout.split('\0').filter((path) => path !== '')
}

/** As a walk meets them: what lies below an ignored folder is never seen. */
function ignoredByUs(text: string): string[] {
  const rules = readRules(text, '')
  return files.filter((path) =>
    path.split('/').some((_, at, all) => {
      const here = all.slice(0, at + 1).join('/')
      return rules.says(here, folders.has(here)) === true
    }),
  )
}

test.for([
  ['stars', `${'*a'.repeat(40)}*b`],
  ['folders', `${'**/a/'.repeat(40)}b`],
  ['one star beside another', `${'*'.repeat(2_000)}b`],
  ['spaces', `a${' '.repeat(4_000)}b`],
])('many %s take no longer than few', ([, pattern]) => {
  const rules = readRules(Array.from({ length: 20 }, () => pattern).join('\n'), '')
  for (const path of ['a'.repeat(4_000), 'a/'.repeat(2_000), `${'a'.repeat(255)}/`.repeat(15)])
    expect(rules.says(`${path}c`, false)).toBeUndefined()
})

/** The same numbers each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
