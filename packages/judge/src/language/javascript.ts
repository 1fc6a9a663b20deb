import { type LanguageData, PLAIN } from './language-data.ts'

const NODE = {
  ...PLAIN,
  tool: 'own-node',
  needs: 'file',
  memoryAllowanceBytes: 96 * 1024 * 1024,
  memorySigns: ['JavaScript heap out of memory', 'Array buffer allocation failed'],
  crashSigns: ['\nNode.js v'],
} as const

/** JavaScript by Node. */
export const JAVASCRIPT: LanguageData = {
  ...NODE,
  language: 'javascript',
  title: 'JavaScript',
  source: 'main.js',
  check: ['{tool}', '--check', 'main.js'],
  run: ['{tool}', '--max-old-space-size={memory_mb}', '--stack-size=65500', 'main.js'],
}

/** TypeScript by Node: types are taken out, not checked. */
export const TYPESCRIPT: LanguageData = {
  ...NODE,
  language: 'typescript',
  title: 'TypeScript',
  source: 'main.ts',
  // `--check` knows no types; taking them out reads the whole source.
  check: ['{tool}', '--eval', "require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync('main.ts', 'utf8'))"],
  run: ['{tool}', '--max-old-space-size={memory_mb}', '--stack-size=65500', 'main.ts'],
}
