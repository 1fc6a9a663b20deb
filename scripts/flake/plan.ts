import { globSync } from 'node:fs'
import base from '../../vitest.config.ts'

/** Files that are run together: as many as can be run again without losing much when somebody stops it. */
export interface PlannedPart {
  readonly name: string
  /** As paths from the root. */
  readonly files: readonly string[]
}

const PART_LIMIT_FILES = 24

/** The tests of `npm test` whose path contains one of `paths`; those of `npm run verify` too where a path names them. */
export function testFiles(root: string, paths: readonly string[]): readonly string[] {
  const { include = [], exclude = [] } = base.test ?? {}
  const left = paths.some((path) => path.includes('.verify')) ? exclude.filter((glob) => !glob.includes('.verify')) : exclude
  return globSync(include, { cwd: root, exclude: left })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((file) => paths.length === 0 || paths.some((path) => file.includes(path)))
    .toSorted()
}

/** By room, and large rooms in pieces. */
export function planParts(files: readonly string[]): readonly PlannedPart[] {
  const rooms = Map.groupBy(files, (file) => (file.startsWith('packages/') ? (file.split('/')[1] ?? '') : 'scripts'))
  return [...rooms].flatMap(([room, own]) => {
    const count = Math.ceil(own.length / PART_LIMIT_FILES)
    const size = Math.ceil(own.length / count)
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? room : `${room}-${index + 1}`,
      files: own.slice(index * size, (index + 1) * size),
    }))
  })
}
