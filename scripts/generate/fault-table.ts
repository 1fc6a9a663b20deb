import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, parseJson } from '@parley/protocol'
import { isTest, listFiles } from '../check/files.ts'

const FAULTS_FILE = 'docs/runtime/faults.json'
/** `fault 4:`, `faults 1, 2 and 4:` */
const NUMBERS = /\bfaults? (\d+(?:(?:, | and )\d+)*): /g
const TITLE = /(?<quote>['"`])(?<title>(?:(?!\k<quote>).)*\bfaults? \d+(?:(?:, | and )\d+)*:(?:(?!\k<quote>).)*)\k<quote>/
const GROUP = /^\s*describe\b.*(?<quote>['"`])(?<title>(?:(?!\k<quote>).)+)\k<quote>,[^'"`]*$/

/** Something that once went wrong in another runtime. `open`: what of it is not tested here yet, and why. */
interface Fault {
  readonly fault: number
  readonly what: string
  readonly open?: string
}

interface NamedTest {
  readonly fault: number
  readonly title: string
  readonly path: string
}

/** One line per fault with the tests that are named after it. Throws for one that has neither a test nor a word of why. */
export function faultTable(root: string): string {
  const faults = readFaults(readFileSync(join(root, FAULTS_FILE), 'utf8'))
  const paths = listFiles(root).filter((path) => path.startsWith('packages/') && isTest(path))
  return faultRows(
    faults,
    paths.flatMap((path) => namedTests(path, readFileSync(join(root, path), 'utf8'))),
  )
}

function readFaults(text: string): readonly Fault[] {
  const listed = parseJson(text)
  if (!Array.isArray(listed)) throw new TypeError(`${FAULTS_FILE} is no list`)
  return listed.map((entry) => {
    const { fault, what, open } = isJsonObject(entry) ? entry : {}
    if (typeof fault !== 'number' || typeof what !== 'string') throw new TypeError(`${FAULTS_FILE}: each has "fault" and "what"`)
    return { fault, what, ...(typeof open === 'string' ? { open } : {}) }
  })
}

export function faultRows(faults: readonly Fault[], tests: readonly NamedTest[]): string {
  const unknown = tests.find(({ fault }) => !faults.some((known) => known.fault === fault))
  if (unknown !== undefined)
    throw new Error(`${unknown.path} names a test after fault ${unknown.fault}, which ${FAULTS_FILE} does not have`)
  const rows = faults.map(({ fault, what, open }) => {
    const own = tests.filter((test) => test.fault === fault).map(({ title, path }) => `${title} ([test](../../${path}))`)
    if (own.length === 0 && open === undefined)
      throw new Error(`fault ${fault} of ${FAULTS_FILE} has neither a test that is named "fault ${fault}: …" nor a word of why`)
    return `| ${fault} | ${what} | ${[...own, ...(open === undefined ? [] : [`*To come:* ${open}`])].map(escaped).join('<br>')} |`
  })
  return ['| | what went wrong | what holds here |', '| --- | --- | --- |', ...rows].join('\n')
}

/** Tests and groups of a file whose title has `fault N:` or `faults N and M:`, with the groups that they are in. */
export function namedTests(path: string, source: string): readonly NamedTest[] {
  let groups: readonly { readonly indent: number; readonly title: string }[] = []
  return source.split('\n').flatMap((line) => {
    const indent = line.search(/\S/)
    if (indent !== -1) groups = groups.filter((group) => group.indent < indent)
    const found = TITLE.exec(line)?.groups?.['title']
    const above = groups.map(({ title }) => title)
    const group = GROUP.exec(line)?.groups
    if (group !== undefined) groups = [...groups, { indent, title: group['title'] ?? '' }]
    if (found === undefined) return []
    const title = [...above, found].join(': ').replaceAll(NUMBERS, '')
    const numbers = [...found.matchAll(NUMBERS)].flatMap(([, listed = '']) => listed.match(/\d+/g) ?? [])
    return numbers.map((number) => ({ fault: Number(number), title, path }))
  })
}

const escaped = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('{', '&#123;')
