import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PATH = 'docs/glossary.md'

/** A word that stands in `code` in the right-hand column: no exported name has it. */
interface Avoid {
  readonly word: string
  /** Looks at a name whose words have spaces between. */
  readonly pattern: RegExp
  readonly instead: string
}

export interface Glossary {
  readonly avoids: readonly Avoid[]
  readonly complaints: readonly string[]
}

interface Row {
  readonly word: string
  readonly avoid: readonly string[]
}

/** What `docs/glossary.md` says in a form that a program can hold to. */
export function readGlossary(root: string): Glossary {
  const path = join(root, PATH)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const rows = text.split('\n').flatMap(readRow)
  const words = rows.map(({ word }) => word)
  return {
    avoids: [...rows.flatMap(avoidsOf), ...alsoAvoided(text)],
    complaints: [
      ...words.filter((word, at) => words.indexOf(word) !== at).map((word) => `${PATH}: ${word} is explained twice`),
      ...rows.flatMap((row) => unexplained(row, words)),
    ],
  }
}

function readRow(line: string): readonly Row[] {
  const [, word, avoid] = /^\| \*\*([^*]+)\*\* \|.*\| ([^|]*) \|$/.exec(line) ?? []
  if (word === undefined || avoid === undefined) return []
  // A comma in a remark parts nothing.
  return [{ word, avoid: avoid.split(/[,;](?![^(]*\))/).map((item) => item.trim()) }]
}

/** Whoever avoids a word that has a meaning of its own says which, or the table contradicts itself. */
function unexplained({ word, avoid }: Row, words: readonly string[]): readonly string[] {
  return avoid
    .filter((item) => words.includes(item.replaceAll('`', '')))
    .map((item) => `${PATH}: ${word} avoids ${item}, which is a word of ours: say what it is instead, in brackets`)
}

function avoidsOf({ word, avoid }: Row): readonly Avoid[] {
  return avoid.flatMap((item) => {
    const [, forbidden] = /^`([^`]+)`/.exec(item) ?? []
    if (forbidden === undefined) return []
    return [{ word: forbidden, pattern: new RegExp(`\\b${forbidden}s?\\b`, 'i'), instead: `say ${word}` }]
  })
}

/** The list under the table: `X` stands for any word, and what names a drawer is the end of a name. */
function alsoAvoided(text: string): readonly Avoid[] {
  const [, list = ''] = /^Also avoided in names: (.*?)\. /ms.exec(text) ?? []
  return [...list.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) => {
    const [, verb] = /^([a-z]+)X$/.exec(word) ?? []
    // A verb begins with a small letter: what is a `Process…` is a noun.
    const pattern = verb === undefined ? new RegExp(`\\b${word}$`, 'i') : new RegExp(`^${verb} `)
    return [{ word, pattern: /\d$/.test(word) ? /\bv ?\d+\b/i : pattern, instead: 'it says nothing about what is inside' }]
  })
}
