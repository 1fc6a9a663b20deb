import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { listFiles } from './files.ts'
import { type Glossary, readGlossary } from './glossary.ts'
import { loadRooms } from './rooms.ts'
import { isProduct } from './shipped.ts'

/** Types that two rooms declare under one name, and why each of them is right. */
const TWICE: ReadonlyMap<string, string> = new Map([
  ['Asked', 'what is being asked of this room: a method of a client in the one, a model in the other'],
  ['CommandOutcome', 'how a command ended: of the port in bytes, and in an event in words'],
  ['InvalidArgument', 'the same refusal at two ports, each with the errors of its own family'],
])

/** Something that a file exports under a name of its own. */
interface Exported {
  readonly name: string
  readonly isType: boolean
  readonly room: string
  readonly path: string
}

const TYPES = new Set(['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSEnumDeclaration'])

/** One noun, one meaning: no type is declared in two rooms, and no exported name says what the glossary avoids. */
export function checkNouns(root: string, twice = TWICE): readonly string[] {
  const glossary = readGlossary(root)
  const exported = loadRooms(root)
    .rooms.filter(({ exempt }) => !exempt)
    .flatMap(({ name: room }) => exportsOf(root, room))
  return [...glossary.complaints, ...declaredTwice(exported, twice), ...exported.flatMap((one) => avoided(one, glossary))]
}

function exportsOf(root: string, room: string): readonly Exported[] {
  const folder = `packages/${room}/src`
  const files = listFiles(root).filter((path) => path.startsWith(`${folder}/`) && isProduct(path))
  return files.flatMap((path) =>
    declarations(path, readFileSync(join(root, path), 'utf8')).map((found) => ({ ...found, room, path })),
  )
}

/** What a file declares and exports in one breath. A list of names that is passed on declares nothing. */
function declarations(path: string, source: string): readonly Pick<Exported, 'name' | 'isType'>[] {
  return parseSync(path, source).program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return []
    const { declaration } = statement
    const named = declaration.type === 'VariableDeclaration' ? declaration.declarations.map(({ id }) => id) : [declaration.id]
    const isType = TYPES.has(declaration.type)
    return named.flatMap((id) => (id?.type === 'Identifier' ? [{ name: id.name, isType }] : []))
  })
}

function declaredTwice(exported: readonly Exported[], twice: ReadonlyMap<string, string>): readonly string[] {
  const places = new Map<string, Map<string, string>>()
  for (const { name, isType, room, path } of exported) {
    if (!isType) continue
    const rooms = places.get(name) ?? new Map<string, string>()
    places.set(name, rooms.set(room, rooms.get(room) ?? path))
  }
  const doubled = [...places].filter(([, rooms]) => rooms.size > 1)
  return [
    ...doubled
      .filter(([name]) => !twice.has(name))
      .map(([name, rooms]) => `${[...rooms.values()].join(' and ')} both declare ${name}: one noun, one meaning`),
    ...[...twice.keys()]
      .filter((name) => !doubled.some(([other]) => other === name))
      .map((name) => `scripts/check/nouns.ts lists ${name}, which no two rooms declare any more`),
  ]
}

function avoided({ name, path }: Exported, { avoids }: Glossary): readonly string[] {
  const found = avoids.find(({ pattern }) => pattern.test(spaced(name)))
  return found === undefined ? [] : [`${path} exports ${name}: the glossary avoids "${found.word}", ${found.instead}`]
}

/** `HTTPServerV2` as `HTTP Server V2`, `JOB_QUEUE` as `JOB QUEUE`. */
function spaced(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4').replaceAll('_', ' ')
}
