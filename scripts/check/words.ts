import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isTest, listFiles } from './files.ts'
import { checkNouns } from './nouns.ts'
import type { Part } from './part.ts'

interface Ban {
  readonly pattern: RegExp
  readonly why: string
  readonly where: (path: string) => boolean
}

const everywhere = (): boolean => true
const IGNORED = /(^package-lock\.json|\.(png|svg|ico|zip|woff2|bin|db))$/

/** Written so that this file does not contain what it looks for. */
const BANS: readonly Ban[] = [
  {
    pattern: /\b(TO{1}DO|FIX{1}ME|X{3}|HAC[K])\b/,
    why: 'unfinished work is finished or written down in the changelog',
    where: everywhere,
  },
  { pattern: /(^|[\s"'`(=:])\/wor[k]\//, why: 'a path of one machine', where: everywhere },
  { pattern: /\b[Ii]ssue #?\d+\b/, why: 'comments and docs stand on their own, without tickets', where: everywhere },
  { pattern: /\b(test|it|describe|suite)\.(only|skip|todo)\b/, why: 'every test runs', where: isTest },
  {
    pattern: /\b(npx|npm (x|exec|i|install)|pnpm dlx|yarn dlx|bunx)( -\S+)*( --)? parley(-mcp)?(?![\w-])/,
    why: "npm has a stranger's program under one name and nobody's under the other: say bin/parley, or parley once it is on PATH",
    where: everywhere,
  },
  { pattern: /\bdebugge[r]\b\s*;?\s*$/, why: 'left over from debugging', where: (path) => /\.(ts|js)$/.test(path) },
]

/** Words and paths that must not be in the tree, and nouns that have one meaning. */
export const wordsPart: Part = {
  name: 'words',
  run: (root) => Promise.resolve([...checkWords(root), ...checkNouns(root)]),
}

export function checkWords(root: string): readonly string[] {
  return listFiles(root)
    .filter((path) => !IGNORED.test(path))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), 'utf8').split('\n')
      return BANS.filter((ban) => ban.where(path)).flatMap(({ pattern, why }) =>
        lines.flatMap((line, index) => {
          const found = pattern.exec(line)
          return found === null ? [] : [`${path}:${index + 1} "${found[0].trim()}": ${why}`]
        }),
      )
    })
}
