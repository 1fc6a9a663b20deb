import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Scratch, openScratch } from './scratch.ts'

const LEFT_OUT = new Set(['node_modules', '.git', '.cache', '.parley', 'dist', 'results'])
const SCOPE = '@parley'

/**
 * A copy of the project to work on. Foreign packages are the original's; our own rooms are the copy's, so that what runs
 * there is what was changed there.
 */
export function copyProject(root: string): Scratch {
  const copy = openScratch()
  cpSync(root, copy.root, {
    recursive: true,
    filter: (path) =>
      !relative(root, path)
        .split('/')
        .some((part) => LEFT_OUT.has(part)),
  })
  const from = join(root, 'node_modules')
  const to = join(copy.root, 'node_modules')
  mkdirSync(join(to, SCOPE), { recursive: true })
  for (const name of readdirSync(from)) if (name !== SCOPE) symlinkSync(join(from, name), join(to, name))
  for (const room of readdirSync(join(copy.root, 'packages')))
    symlinkSync(join(copy.root, 'packages', room), join(to, SCOPE, room))
  return copy
}
