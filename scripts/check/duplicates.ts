import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from './files.ts'
import type { Part } from './part.ts'
import { isProduct } from './shipped.ts'

/** So many lines in a row that stand in two files are one thing written twice. */
const LINES_ALIKE = 10
/** Tables and examples: what they say again is data. A migration is never changed, whatever a later one repeats. */
const DATA = /^examples\/|\/migration\//
/** Lines that are alike everywhere: imports, names and words in a list, rows of a table that say what a name is bound to, brackets. */
const SAYS_LITTLE = /^(import\b.*|export \{|\} from .*|(type )?[A-Za-z]\w*,|'[\w.]+'(: \w+)?,|[\s{}()[\],;]*)$/

/** No ten lines of product code stand in two files. */
export const duplicatesPart: Part = {
  name: 'duplicates',
  run: (root) => Promise.resolve(checkDuplicates(root)),
}

interface Line {
  readonly text: string
  readonly number: number
}

export function checkDuplicates(root: string): readonly string[] {
  const seen = new Map<string, { readonly path: string; readonly number: number }>()
  const pairs = new Map<string, string>()
  for (const path of listFiles(root).filter((file) => isProduct(file) && !DATA.test(file))) {
    const lines = linesOf(readFileSync(join(root, path), 'utf8'))
    for (let index = 0; index + LINES_ALIKE <= lines.length; index += 1) {
      const run = lines.slice(index, index + LINES_ALIKE)
      const key = run.map(({ text }) => text).join('\n')
      const number = run[0]?.number ?? 0
      const first = seen.get(key)
      if (first === undefined) seen.set(key, { path, number })
      else if (first.path !== path && !pairs.has(`${first.path} ${path}`))
        pairs.set(`${first.path} ${path}`, `${path}:${number} repeats ${first.path}:${first.number}: make it one`)
    }
  }
  return [...pairs.values()]
}

/** The lines that say something, without the space around them and without comments. */
function linesOf(source: string): readonly Line[] {
  return source
    .replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .split('\n')
    .map((text, index) => ({ text: text.replace(/(^|\s)\/\/.*$/, '').trim(), number: index + 1 }))
    .filter(({ text }) => !SAYS_LITTLE.test(text))
}
