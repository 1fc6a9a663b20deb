import { isScript, listFiles } from './files.ts'
import type { Part } from './part.ts'

/** Names of drawers: what goes in never comes out. */
const DRAWERS = new Set(['utils', 'util', 'common', 'shared', 'helpers', 'helper', 'lib', 'misc', 'interfaces', 'types'])
/** What serves tests is in `fixture`, for the tests beside it, or in `testing`, for those of other rooms too. */
const OTHER_TEST_FOLDERS = /^(fixtures|support|mocks?|stubs?|fakes?|test-?data|test-?support|__.*__)$/
/** A dot stands in the name of a foreign version's folder. */
const KEBAB = /^[a-z0-9]+([-.][a-z0-9]+)*$/
const CHECKED = /^(packages\/[^/]+\/src|scripts|bin)\//

/** Files and folders of source are in kebab-case and say what they hold. */
export const namesPart: Part = {
  name: 'names',
  run: (root) => Promise.resolve(checkNames(listFiles(root))),
}

export function checkNames(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap(testFolderOf)), ...paths.flatMap(checkPath)]
}

function testFolderOf(path: string): readonly string[] {
  const folders = path.split('/').slice(0, -1)
  const at = folders.findIndex((folder) => OTHER_TEST_FOLDERS.test(folder))
  return at === -1 ? [] : [`${folders.slice(0, at + 1).join('/')}: what serves tests is in "fixture" or "testing"`]
}

function checkPath(path: string): readonly string[] {
  if (!CHECKED.test(path) || !isScript(path) || /\/fixture\//.test(path)) return []
  const words = path.split('/').map((part) => part.replace(/(\.(test|config|d|schema))?\.[a-z0-9]+$/, ''))
  const drawer = words.find((word) => DRAWERS.has(word))
  if (drawer !== undefined) return [`${path}: "${drawer}" says nothing about what is inside`]
  const odd = words.find((word) => !KEBAB.test(word))
  return odd === undefined ? [] : [`${path}: "${odd}" is not kebab-case`]
}
