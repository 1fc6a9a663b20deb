import { isScript, listFiles } from './files.ts'
import type { Part } from './part.ts'

/** Names of drawers: what goes in never comes out. */
const DRAWERS = new Set(['utils', 'util', 'common', 'shared', 'helpers', 'helper', 'lib', 'misc', 'interfaces', 'types'])
/** A dot stands in the name of a foreign version's folder. */
const KEBAB = /^[a-z0-9]+([-.][a-z0-9]+)*$/
const CHECKED = /^(packages\/[^/]+\/src|scripts|bin)\//

/** Files and folders of source are in kebab-case and say what they hold. */
export const namesPart: Part = {
  name: 'names',
  run: (root) => Promise.resolve(checkNames(listFiles(root))),
}

export function checkNames(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => CHECKED.test(path) && isScript(path) && !/\/fixtures?\//.test(path))
    .flatMap((path) => {
      const words = path.split('/').map((part) => part.replace(/(\.(test|config|d|schema))?\.[a-z0-9]+$/, ''))
      const drawer = words.find((word) => DRAWERS.has(word))
      if (drawer !== undefined) return [`${path}: "${drawer}" says nothing about what is inside`]
      const odd = words.find((word) => !KEBAB.test(word))
      return odd === undefined ? [] : [`${path}: "${odd}" is not kebab-case`]
    })
}
