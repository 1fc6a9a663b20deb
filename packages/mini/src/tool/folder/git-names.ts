import { lstatSync } from 'node:fs'
import type { Dir } from './dir.ts'
import type { Folder } from './folder.ts'
import { PathRefused } from './path-refused.ts'

/** A folder that holds all of one of these is a repository to git, whatever it is called, and git runs what its settings name. */
const MARKS: readonly (readonly string[])[] = [
  ['head', 'objects', 'refs'],
  ['head', 'commondir'],
]
/** As git spells them. */
const NAMES: ReadonlyMap<string, string> = new Map(
  ['HEAD', 'objects', 'refs', 'commondir'].map((name) => [name.toLowerCase(), name]),
)

/** Whether a folder that is held is one: `.git`, what a `.git` that is a file leads to, or a bare one. */
export function isRepository(dir: Dir): boolean {
  const has = (mark: string): boolean => lstatSync(dir.at(NAMES.get(mark) ?? mark), { throwIfNoEntry: false }) !== undefined
  return MARKS.some((marks) => marks.every(has))
}

/** Refuses files that would together, with what is there already, make a folder a repository. Throws `PathRefused`. */
export function refuseNewRepositories(folder: Folder, paths: readonly string[]): void {
  const made = new Map<string, Set<string>>()
  for (const path of paths) {
    const names = path.split('/')
    for (const [index, name] of names.entries()) {
      const mark = name.toLowerCase()
      if (!NAMES.has(mark)) continue
      const above = names.slice(0, index).join('/')
      made.set(above, (made.get(above) ?? new Set()).add(mark))
    }
  }
  for (const [above, marks] of made) {
    const isThere = (mark: string): boolean => marks.has(mark) || isAt(folder, [above, NAMES.get(mark)].filter(Boolean).join('/'))
    if (MARKS.some((all) => all.every(isThere)))
      throw new PathRefused(
        'protected',
        `${above || '.'} would become a git repository, and git runs what the settings of one name`,
      )
  }
}

function isAt(folder: Folder, path: string): boolean {
  using walked = folder.walkToWrite(path, 'keep')
  return walked.kind !== 'none'
}
