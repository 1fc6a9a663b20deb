import { JOB_LIMITS, type JsonObject, type JsonValue, type Language, isJsonObject, parseJson } from '@parley/protocol'
import { type CodeBlock, codeBlocks, isBareCode, isTagOf } from './code-blocks.ts'
import { readTolerantly } from './tolerant-json.ts'

/** A model's answer, read. */
export type ReadSolution =
  | {
      readonly kind: 'read'
      readonly code: string
      /** The document around the code; empty where there was none. */
      readonly document: JsonObject
      /** What was not as asked for, in words. */
      readonly tolerated: readonly string[]
    }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** The names under which the source may stand. */
const NAMES = ['main', 'main_cpp'] as const

/** Finds the program in what a model answered, however it is wrapped. What nobody can be sure of is not taken. */
export function readSolution(text: string, language: Language): ReadSolution {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'unreadable', reason: 'the answer is empty' }
  const whole = documentOf(parseJson(trimmed), [])
  if (whole !== undefined) return checked(whole)
  const blocks = codeBlocks(trimmed)
  for (const found of wrapped(trimmed, blocks)) if (found !== undefined) return checked(found)
  const block = codeOf(blocks, language)
  if (block !== undefined) {
    const open = block.isClosed ? [] : ['a fence that does not end']
    return checked({ code: block.text, document: {}, tolerated: ['code without a document', ...open] })
  }
  if (isBareCode(trimmed, language))
    return checked({ code: `${trimmed}\n`, document: {}, tolerated: ['bare code without a document'] })
  return { kind: 'unreadable', reason: 'there is neither a document with the program in `main` nor a block of code' }
}

interface Found {
  readonly code: string
  readonly document: JsonObject
  readonly tolerated: readonly string[]
}

/** Documents in fences, in prose, and nearly documents; the most trustworthy first. */
function* wrapped(text: string, blocks: readonly CodeBlock[]): Iterable<Found | undefined> {
  const fenced = blocks.filter(({ tag, text: inside }) => tag.startsWith('json') || inside.trimStart().startsWith('{'))
  for (const { text: inside } of fenced) yield documentOf(parseJson(inside), ['a fence around the document'])
  const starts = braces(text)
  const last = text.lastIndexOf('}')
  for (const start of starts) yield documentOf(parseJson(text.slice(start, last + 1)), ['words around the document'])
  for (const { text: inside } of fenced) yield nearly(inside, inside.indexOf('{'), ['a fence around the document'])
  for (const start of starts) yield nearly(text, start, start === 0 ? [] : ['words around the document'])
}

/** Places where a document may begin: a brace with a name behind it. */
const BEGINNING = /\{\s*(?:\/\/[^\n]*\s*|\/\*[\s\S]*?\*\/\s*)*["'A-Za-z_]/g
const BEGINNINGS_MAX = 20
const braces = (text: string): readonly number[] => [...text.matchAll(BEGINNING).take(BEGINNINGS_MAX)].map((match) => match.index)

function nearly(text: string, start: number, around: readonly string[]): Found | undefined {
  const read = start < 0 ? undefined : readTolerantly(text, start)
  // A program that ends in the middle is none.
  if (read === undefined || NAMES.some((name) => read.cut.includes(name))) return undefined
  const rest = text.slice(read.end).trim() === '' ? [] : ['words around the document']
  return documentOf(read.value, [...new Set([...around, ...read.tolerated, ...rest])])
}

function documentOf(value: JsonValue | undefined, tolerated: readonly string[]): Found | undefined {
  if (!isJsonObject(value)) return undefined
  const name = NAMES.find((candidate) => isSource(value[candidate]))
  const source = name === undefined ? undefined : value[name]
  if (name === undefined || typeof source !== 'string') return undefined
  const called = name === 'main' ? [] : [`\`${name}\` for \`main\``]
  const [block, ...others] = codeBlocks(source.trim())
  const isFenced = block !== undefined && others.length === 0 && /^(`{3}|~{3})/.test(source.trim())
  const fence = isFenced ? ['a fence around the program'] : []
  return { code: isFenced ? block.text : source, document: value, tolerated: [...tolerated, ...called, ...fence] }
}

const isSource = (value: JsonValue | undefined): boolean => typeof value === 'string' && value.trim() !== ''

/** The largest block of the language; else the largest that is not a document or what a program prints. */
function codeOf(blocks: readonly CodeBlock[], language: Language): CodeBlock | undefined {
  const largest = (some: readonly CodeBlock[]): CodeBlock | undefined =>
    some.toSorted((a, b) => b.text.length - a.text.length).find(({ text }) => text.trim() !== '')
  return largest(blocks.filter(({ tag }) => isTagOf(tag, language))) ?? largest(blocks.filter(({ tag }) => !NO_CODE.test(tag)))
}

const NO_CODE = /^(json|jsonc|json5|text|txt|plain|diff|patch|output|input|console|sh|bash|shell|markdown|md|math|latex)$/

function checked({ code, document, tolerated }: Found): ReadSolution {
  if (Buffer.byteLength(code) > JOB_LIMITS.codeBytes)
    return { kind: 'unreadable', reason: `the program is longer than ${JOB_LIMITS.codeBytes} bytes` }
  return { kind: 'read', code, document, tolerated: [...new Set(tolerated)] }
}
