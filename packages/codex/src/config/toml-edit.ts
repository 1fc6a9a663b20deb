import { isDeepStrictEqual } from 'node:util'
import { TomlError, parse } from 'smol-toml'
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { type TomlTable, type TomlValue, keyText, tableText, valueText } from './toml-text.ts'

/** The file is no TOML, or it is written in a way that cannot be changed without touching something else. Nothing was written. */
export class TomlEditError extends Error {
  readonly code = 'toml_edit'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TomlEditError'
  }
}

export type TomlDocument = Record<string, unknown>
export type TomlPath = readonly [string, ...string[]]

/** Throws `TomlEditError` with the line. */
export function parseToml(text: string): TomlDocument {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new TomlEditError(`line ${error.line}: ${error.message.split('\n', 1)[0] ?? 'not TOML'}`, { cause: error })
  }
}

/** Adds a table at the end. All else, comments included, stays as it is. */
export function addTable(text: string, path: TomlPath, table: TomlTable): string {
  const gap = text === '' || text.endsWith('\n\n') || text.endsWith('\n\r\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  const added = `${gap}${tableText(path, table)}`
  const after = `${text}${text.includes('\r\n') ? added.replaceAll('\n', '\r\n') : added}`
  const expected = structuredClone(parseToml(text))
  if (!put(expected, path, table)) throw new TomlEditError(`${keyText(path)} is there already, or what it stands in is no table`)
  return verified(after, expected, path)
}

/** Takes out a key or a table with all below it. Comments that stand in lines of their own above it stay. */
export function removeFrom(text: string, path: TomlPath): string {
  const expected = structuredClone(parseToml(text))
  if (!take(expected, path)) return text
  const cuts = nodesBelow(text, path).map((node) => wholeLines(text, node))
  let after = text
  for (const [start, end] of cuts.toSorted(([a], [b]) => b - a)) after = joined(after.slice(0, start), after.slice(end))
  return verified(after, expected, path)
}

/** Sets a key of the top level, or takes it out when `value` is null. */
export function setTopLevel(text: string, key: string, value: Exclude<TomlValue, TomlTable> | null): string {
  if (value === null) return removeFrom(text, [key])
  const expected = { ...parseToml(text), [key]: value }
  if (Object.hasOwn(parseToml(text), key)) return replaceValue(text, [key], value)
  const line = `${keyText([key])} = ${valueText(value)}`
  const { body } = topLevel(text)
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const last = body.findLast((node) => node.type === 'TOMLKeyValue')
  if (last !== undefined) {
    const [, end] = wholeLines(text, last)
    const before = text.slice(0, end)
    return verified(`${before}${before.endsWith('\n') ? '' : newline}${line}${newline}${text.slice(end)}`, expected, [key])
  }
  return verified(`${line}${newline}${text === '' ? '' : newline}${text}`, expected, [key])
}

/** Puts another value in the place of one that is there. */
export function replaceValue(text: string, path: TomlPath, value: Exclude<TomlValue, TomlTable>): string {
  const expected = structuredClone(parseToml(text))
  if (!take(expected, path) || !put(expected, path, value)) throw new TomlEditError(`${keyText(path)} is not there`)
  const own = nodesBelow(text, path).find((node) => node.type === 'TOMLKeyValue')
  if (own === undefined) throw new TomlEditError(unsafe(path))
  return verified(`${text.slice(0, own.value.range[0])}${valueText(value)}${text.slice(own.value.range[1])}`, expected, path)
}

/** Every edit is read back: one that did anything but what was asked for is no edit. */
function verified(after: string, expected: TomlDocument, path: TomlPath): string {
  let found: TomlDocument
  try {
    found = parseToml(after)
  } catch (cause) {
    throw new TomlEditError(unsafe(path), { cause })
  }
  if (!isDeepStrictEqual(plain(found), plain(expected))) throw new TomlEditError(unsafe(path))
  return after
}

const unsafe = (path: TomlPath): string =>
  `${keyText(path)} cannot be changed without touching what stands beside it: write it as a table of its own, [${keyText(path)}]`

/** Without prototypes, which do not count, and without tables that are empty: they come and go with their headers. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value instanceof Date ? value.toISOString() : value
  const kept = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const own = plain(inner)
    return isRecord(own) && Object.keys(own).length === 0 ? [] : [[key, own]]
  })
  return Object.fromEntries(kept)
}

type Node = AST.TOMLTable | AST.TOMLKeyValue

function topLevel(text: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text).body[0]
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw new TomlEditError(`line ${error.lineNumber}: ${error.message}`, { cause: error })
  }
}

/** Whatever says something about `path` or what is below it, outermost first and none inside another. */
function nodesBelow(text: string, path: TomlPath): readonly Node[] {
  return topLevel(text).body.flatMap((node): readonly Node[] => {
    if (node.type === 'TOMLKeyValue') return isBelow(namesOf(node.key), path) ? [node] : []
    const own = node.resolvedKey.map(String)
    if (isBelow(own, path)) return [node]
    return node.body.filter((inner) => isBelow([...own, ...namesOf(inner.key)], path))
  })
}

const namesOf = (key: AST.TOMLKey): readonly string[] =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value))
const isBelow = (full: readonly string[], path: readonly string[]): boolean => path.every((name, index) => full[index] === name)

/** From the beginning of its first line to the end of its last. */
function wholeLines(text: string, { range }: Node): readonly [number, number] {
  const start = text.lastIndexOf('\n', range[0] - 1) + 1
  const end = text.indexOf('\n', range[1])
  return [start, end < 0 ? text.length : end + 1]
}

/** Where something was taken out, one empty line is enough, and at the end of the file none. */
function joined(before: string, after: string): string {
  if (after.trim() === '') return before.replace(/(\r?\n)(?:\r?\n)+$/, '$1')
  const isLoose = before === '' || /\n\r?\n$/.test(before)
  return `${before}${isLoose ? after.replace(/^(?:\r?\n)+/, '') : after}`
}

function put(document: TomlDocument, path: TomlPath, value: TomlValue): boolean {
  const [last, ...above] = [...path].reverse()
  let table = document
  for (const name of above.reverse()) {
    const inner = table[name] ?? (table[name] = {})
    if (!isRecord(inner)) return false
    table = inner
  }
  if (last === undefined || Object.hasOwn(table, last)) return false
  table[last] = value
  return true
}

function take(document: TomlDocument, path: TomlPath): boolean {
  const [name, ...rest] = path
  if (!Object.hasOwn(document, name)) return false
  const [next, ...deeper] = rest
  if (next === undefined) return delete document[name]
  const inner = document[name]
  return isRecord(inner) && take(inner, [next, ...deeper])
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
