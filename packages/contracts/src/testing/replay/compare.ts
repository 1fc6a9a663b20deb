import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import { inFixedOrder } from '../../record/fixed-order.ts'
import { normaliser } from '../../record/normalise.ts'
import type { RecordedLine } from '../../registry/registry-types.ts'
import { aligned } from './align.ts'
import type { Exception, Excuse } from './exception.ts'
import { type Spoken, type Word, spoken } from './word.ts'

/** One place where ours and the recording part. A side that is left out has nothing there. */
export interface Difference {
  /** The word of the message, and behind it the place in it; without one, the whole message. */
  readonly at: string
  readonly recorded?: JsonValue
  readonly ours?: JsonValue
}

export interface Comparison {
  /** What no exception names. */
  readonly differences: readonly Difference[]
  /** The names of the exceptions without which there would be more. */
  readonly used: ReadonlySet<string>
}

/** Folders and addresses are placeholders already. */
const PLACES = { work: '/WORK', home: '/HOME', modelUrl: 'http://127.0.0.1:1/v1' }

/** Compares message by message what a client got from ours with what it had got from Codex. Both in their normal form. */
export function compare(
  recorded: readonly RecordedLine[],
  ours: readonly RecordedLine[],
  exceptions: readonly Exception[],
): Comparison {
  const used = new Set<string>()
  const excused = (kind: string, at: string): boolean => {
    const found = exceptions.find(({ excuses }) => excuses.some((excuse) => patternOf(excuse, kind)?.test(at) === true))
    if (found !== undefined) used.add(found.name)
    return found !== undefined
  }
  const answered = new Set(askedOf(recorded).filter((id) => isAnswered(recorded, id)))
  const isLate = (line: RecordedLine, word: Word): boolean => {
    const id =
      line.dir === '<' && isJsonObject(line.message) && line.message['method'] === undefined ? line.message['id'] : undefined
    const turn = askedOf(ours).indexOf(id ?? null)
    const theirs = askedOf(recorded)[turn]
    return id !== undefined && theirs !== undefined && !answered.has(theirs) && excused('answered', word)
  }
  const unlisted = (member: JsonValue): boolean => {
    const found = exceptions.find(({ excuses }) => excuses.some((one) => 'unlisted' in one && one.unlisted(member)))
    if (found !== undefined) used.add(found.name)
    return found !== undefined
  }
  const theirs = inNormalForm(recorded, (_, word) => !excused('leftOut', word)).map(({ word, message }) => ({
    word,
    message: withoutMembers(message, unlisted),
  }))
  const own = inNormalForm(ours, (line, word) => !isLate(line, word) && !excused('added', word))
  const isMoved = ({ word }: Spoken): boolean => excused('moved', word)
  const parts = [
    aligned(
      merged(
        theirs.filter((one) => !isMoved(one)),
        excused,
      ),
      merged(
        own.filter((one) => !isMoved(one)),
        excused,
      ),
    ),
    aligned(theirs.filter(isMoved), own.filter(isMoved)),
  ]
  const differences = parts.flat().flatMap(([one, other]): readonly Difference[] => {
    if (one === undefined) return other === undefined ? [] : [{ at: other.word, ours: other.message }]
    if (other === undefined) return [{ at: one.word, recorded: one.message }]
    return valuesOf(`${one.word}: `, one.message, other.message)
  })
  return { differences: differences.filter((one) => !kindsOf(one).some((kind) => excused(kind, one.at))), used }
}

/** The ids of the client's requests, in order. */
const askedOf = (lines: readonly RecordedLine[]): readonly JsonValue[] =>
  lines.flatMap(({ dir, message }) =>
    dir === '>' && isJsonObject(message) && message['method'] !== undefined && message['id'] !== undefined ? [message['id']] : [],
  )

const isAnswered = (lines: readonly RecordedLine[], id: JsonValue): boolean =>
  lines.some(
    ({ dir, message }) => dir === '<' && isJsonObject(message) && message['method'] === undefined && message['id'] === id,
  )

function inNormalForm(lines: readonly RecordedLine[], keeps: (line: RecordedLine, word: Word) => boolean): readonly Spoken[] {
  const words = spoken(lines)
  const kept = lines.filter((line, index) => keeps(line, words[index]?.word ?? ''))
  // Numbers are given by first sight: what was left out must not have one.
  return spoken(inFixedOrder(kept).map(withOwnIds()).map(withMadeIds()).map(normaliser(PLACES)))
}

/** Ids of requests as numbers in their order: whoever asks counts as it likes. */
function withOwnIds(): (line: RecordedLine) => RecordedLine {
  const ids = new Map<string, number>()
  return (line) => {
    const { dir, message } = line
    if (!isJsonObject(message) || message['id'] === undefined) return line
    const isRequest = message['method'] !== undefined
    const asker = isRequest ? dir : dir === '>' ? '<' : '>'
    const key = `${asker}${JSON.stringify(message['id'])}`
    const known = ids.get(key) ?? [...ids.keys()].filter((other) => other.startsWith(asker)).length + 1
    ids.set(key, known)
    return { dir, message: { ...message, id: known } }
  }
}

/** Ids that engines make in their own form, numbered by first sight; those of turns as UUIDs, which Codex has there. */
function withMadeIds(): (line: RecordedLine) => RecordedLine {
  const seen = new Map<string, string>()
  return ({ dir, message }) => {
    const text = JSON.stringify(message)
      .replaceAll(/"response_id":"[^"]*"/g, '"response_id":"id"')
      .replaceAll(/\bturn_([0-9a-f]{11})[0-9a-f]*/g, '00000000-0000-7000-8000-0$1')
      .replaceAll(/\b(?:msg|rs|fc)_[0-9a-f-]+\b/g, (found) => {
        const known = seen.get(found) ?? `made_${seen.size + 1}`
        seen.set(found, known)
        return known
      })
    return { dir, message: parseJson(text) ?? null }
  }
}

function withoutMembers(message: JsonObject, isGone: (member: JsonValue) => boolean): JsonObject {
  const value = (it: JsonValue): JsonValue => {
    if (Array.isArray(it)) return it.filter((member) => !isGone(member)).map(value)
    return isJsonObject(it) ? withoutMembers(it, isGone) : it
  }
  return Object.fromEntries(Object.entries(message).map(([key, it]) => [key, value(it ?? null)]))
}

function merged(all: readonly Spoken[], excused: (kind: string, at: string) => boolean): readonly Spoken[] {
  const kept: Spoken[] = []
  for (const one of all) {
    const last = kept.at(-1)
    const text = deltaOf(one)
    const before = last?.word === one.word ? deltaOf(last) : undefined
    if (last === undefined || text === undefined || before === undefined || !excused('merged', one.word)) kept.push(one)
    else kept.splice(-1, 1, { word: one.word, message: withDelta(last.message, before + text) })
  }
  return kept
}

function deltaOf({ message }: Spoken): string | undefined {
  const { params } = message
  const msg = isJsonObject(params) ? params['msg'] : undefined
  return isJsonObject(msg) && typeof msg['delta'] === 'string' ? msg['delta'] : undefined
}

function withDelta(message: JsonObject, delta: string): JsonObject {
  const { params } = message
  if (!isJsonObject(params) || !isJsonObject(params['msg'])) return message
  return { ...message, params: { ...params, msg: { ...params['msg'], delta } } }
}

function valuesOf(at: string, recorded: JsonValue, ours: JsonValue): readonly Difference[] {
  if (typeof recorded === 'object' && typeof ours === 'object' && recorded !== null && ours !== null) {
    if (Array.isArray(recorded) === Array.isArray(ours)) return entriesOf(at, recorded, ours)
  }
  return recorded === ours ? [] : [{ at, recorded, ours }]
}

function entriesOf(at: string, recorded: object, ours: object): readonly Difference[] {
  const [left, right] = [new Map<string, JsonValue>(Object.entries(recorded)), new Map<string, JsonValue>(Object.entries(ours))]
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key): readonly Difference[] => {
    const [one, other] = [left.get(key), right.get(key)]
    const inner = at.endsWith(' ') ? `${at}${key}` : `${at}.${key}`
    if (one === undefined) return other === undefined ? [] : [{ at: inner, ours: other }]
    if (other === undefined) return [{ at: inner, recorded: one }]
    return valuesOf(inner, one, other)
  })
}

/** What could excuse it, the narrowest first. */
function kindsOf({ recorded, ours }: Difference): readonly string[] {
  if (typeof recorded === 'string' && typeof ours === 'string') return ours.startsWith(recorded) ? ['longer', 'value'] : ['value']
  const isSame = recorded !== undefined && ours !== undefined && typeNameOf(recorded) === typeNameOf(ours)
  return [isSame ? 'value' : 'field']
}

const typeNameOf = (value: JsonValue): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

function patternOf(excuse: Excuse, kind: string): RegExp | undefined {
  const found: unknown = new Map<string, unknown>(Object.entries(excuse)).get(kind)
  return found instanceof RegExp ? found : undefined
}
