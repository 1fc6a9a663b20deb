// npm run check: every static check, side by side. One line each; what is wrong is printed in full.
//
//   node scripts/check/main.ts [--report FILE] [NAME…]
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { arrowsPart } from './arrows.ts'
import { commandPart } from './command.ts'
import { duplicatesPart } from './duplicates.ts'
import { foldersPart } from './folders.ts'
import { namesPart } from './names.ts'
import type { Part } from './part.ts'
import { readmesPart } from './readmes.ts'
import { sizesPart } from './sizes.ts'
import { wordsPart } from './words.ts'

const PARTS: readonly Part[] = [
  commandPart('format', 'oxfmt', ['--check', '.']),
  commandPart('lint', 'oxlint', ['--type-aware', '--deny-warnings', '.']),
  // What did not change since the last time is not looked at again. The contracts are resolved as a bundler would.
  commandPart('types', 'tsc', typesOf('.', 'types'), typesOf('packages/contracts/contracts', 'contract-types')),
  commandPart('unused', 'knip', ['--no-progress', '--no-config-hints']),
  commandPart('generated', 'node', ['scripts/generate/main.ts', '--check']),
  arrowsPart,
  foldersPart,
  duplicatesPart,
  sizesPart,
  namesPart,
  wordsPart,
  readmesPart,
]

function typesOf(project: string, name: string): readonly string[] {
  return ['--noEmit', '-p', project, '--incremental', '--tsBuildInfoFile', `.cache/${name}.tsbuildinfo`]
}

const { values, positionals } = parseArgs({ options: { report: { type: 'string' } }, allowPositionals: true })
const unknown = positionals.find((name) => !PARTS.some((part) => part.name === name))
if (unknown !== undefined) {
  console.error(`no check is called ${unknown}; there are ${PARTS.map((part) => part.name).join(', ')}`)
  process.exit(2)
}

const root = dirname(dirname(import.meta.dirname))
const chosen = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part.name))
const outcomes = await Promise.all(chosen.map((part) => runPart(part)))
const failed = outcomes.filter((ok) => !ok).length
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ passed: outcomes.length - failed, failed }))
process.exitCode = failed === 0 ? 0 : 1

async function runPart(part: Part): Promise<boolean> {
  const started = performance.now()
  const complaints = await part.run(root).catch((error: unknown) => [String(error instanceof Error ? error.stack : error)])
  const seconds = ((performance.now() - started) / 1000).toFixed(2)
  console.log(`${complaints.length === 0 ? 'ok  ' : 'FAIL'} ${part.name.padEnd(10)} ${seconds} s`)
  for (const complaint of complaints) console.log(indent(complaint))
  return complaints.length === 0
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '     ')
}
