import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSource, isTest, listFiles } from './files.ts'
import type { Part } from './part.ts'

const SOURCE_LIMIT_LINES = 300
const TEST_LIMIT_LINES = 500
/** Files that may be longer, by path. Empty, and meant to stay so: split the file instead. */
const EXCEPTIONS: ReadonlySet<string> = new Set<string>([])

/** No file grows past what one can keep in mind. */
export const sizesPart: Part = {
  name: 'sizes',
  run: (root) => Promise.resolve(checkSizes(root)),
}

export function checkSizes(root: string): readonly string[] {
  return listFiles(root)
    .filter((path) => isSource(path) && !EXCEPTIONS.has(path))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length
      const limit = isTest(path) ? TEST_LIMIT_LINES : SOURCE_LIMIT_LINES
      return lines > limit ? [`${path} has ${lines} lines, ${limit} at most: split it`] : []
    })
}
