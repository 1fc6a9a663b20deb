import type { ContractName, Registry } from '@parley/contracts'
import { TypeWriter, wordOf } from './schema-type.ts'

export const TYPES_FOLDER = 'packages/contracts/src/generated'
/** The dialect that old clients speak, and that ours serves by default. */
const VERSION = '0.44.0'
const LINES_MAX = 280

/** The TypeScript of every contract, by path from the root. */
export function contractTypes(contracts: Registry): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const exported: string[] = []
  for (const name of contracts.names) {
    for (const [file, { source, names }] of filesOf(name, contracts)) {
      files.set(`${TYPES_FOLDER}/${file}`, source)
      exported.push(...exportLine(names, file))
    }
  }
  const note = '// Made from packages/contracts/contracts by npm run generate; do not edit.'
  files.set(`${TYPES_FOLDER}/index.ts`, `${note}\n${exported.join('\n')}\n`)
  return files
}

function exportLine(names: readonly string[], file: string): readonly string[] {
  const line = `export type { ${names.join(', ')} } from './${file}'`
  return line.length <= 130 ? [line] : ['export type {', ...names.map((name) => `  ${name},`), `} from './${file}'`]
}

interface Source {
  readonly source: string
  readonly names: readonly string[]
}

function filesOf(name: ContractName, contracts: Registry): readonly (readonly [string, Source])[] {
  const base = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const word = wordOf(name)
  const { request, response, kind } = contracts.declared(name)
  const observed = contracts.observed(name, VERSION)
  const writer = new TypeWriter()
  const isAnswered = kind !== 'notification'
  if (observed.present) {
    writer.declare(
      `${word}Params`,
      observed.request,
      `Params of \`${observed.method}\`, as Codex ${VERSION} takes or sends them.`,
    )
    if (isAnswered) writer.declare(`${word}Result`, observed.response, 'The result of it.')
  }
  writer.declare(`Declared${word}Params`, request, 'The same as the documents declare it.')
  if (isAnswered) writer.declare(`Declared${word}Result`, response, 'The result of it.')
  const files: (readonly [string, Source])[] = [[`${base}.ts`, sourceOf(writer)]]
  const events = new TypeWriter()
  let part = 1
  let current = events
  for (const [type, schema] of Object.entries(observed.events ?? {})) {
    if (linesIn(current) > LINES_MAX - 60) {
      files.push([`${base}-messages-${part}.ts`, sourceOf(current)])
      part += 1
      current = new TypeWriter()
    }
    current.declare(`${wordOf(type)}Message`, schema, `\`msg\` of \`codex/event/${type}\` in Codex ${VERSION}.`)
  }
  if (current.blocks.length > 0) files.push([`${base}-messages-${part}.ts`, sourceOf(current)])
  return files
}

const linesIn = ({ blocks }: TypeWriter): number => blocks.join('\n\n').split('\n').length

function sourceOf(writer: TypeWriter): Source {
  const note = '// Made from packages/contracts/contracts by npm run generate; do not edit.'
  return { source: `${note}\n\n${writer.blocks.join('\n\n')}\n`, names: writer.names }
}
