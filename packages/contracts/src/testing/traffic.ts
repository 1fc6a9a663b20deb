import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import { RecordedLine, RecordingHeader } from '../registry/registry-types.ts'

/** A recording that is not in its form. */
class RecordingBroken extends Error {
  readonly code = 'recording_broken'
}

export interface Recording {
  readonly header: RecordingHeader
  /** The first of them is line 2 of the file. */
  readonly lines: readonly RecordedLine[]
}

/** One request and what came back. `from`: who asked. */
export interface AnsweredRequest {
  readonly from: 'client' | 'server'
  readonly method: string
  /** Undefined where there were none. */
  readonly params: JsonValue | undefined
  /** Undefined where no answer came, or an error. */
  readonly result: JsonValue | undefined
  readonly error: JsonObject | undefined
  /** Of the request, in the file. */
  readonly line: number
}

export interface Notice {
  readonly method: string
  readonly params: JsonValue | undefined
  readonly line: number
}

/** Throws `RecordingBroken`. */
export function parseRecording(text: string): Recording {
  const [first = '', ...rest] = text.trimEnd().split('\n')
  const header = RecordingHeader.safeParse(parseJson(first))
  if (!header.success) throw new RecordingBroken('the first line is no header')
  const lines = rest.map((line, index) => {
    const parsed = RecordedLine.safeParse(parseJson(line))
    if (!parsed.success) throw new RecordingBroken(`line ${index + 2} is no message`)
    return parsed.data
  })
  return { header: header.data, lines }
}

/** Every request of either side with its answer, in the order in which they were asked. */
export function exchangesOf(lines: readonly RecordedLine[]): readonly AnsweredRequest[] {
  return lines.flatMap(({ dir, message }, index): AnsweredRequest[] => {
    if (!isJsonObject(message) || typeof message['method'] !== 'string' || message['id'] === undefined) return []
    const { id, method, params } = message
    const answer = lines.slice(index + 1).find((line) => line.dir !== dir && isAnswerTo(line.message, id))?.message
    const { result, error } = isJsonObject(answer) ? answer : {}
    const more = { result, error: isJsonObject(error) ? error : undefined, line: index + 2 }
    return [{ from: dir === '>' ? 'client' : 'server', method, params, ...more }]
  })
}

/** Every notification of the server. */
export function noticesOf(lines: readonly RecordedLine[]): readonly Notice[] {
  return lines.flatMap(({ dir, message }, index): Notice[] => {
    if (dir !== '<' || !isJsonObject(message) || typeof message['method'] !== 'string' || message['id'] !== undefined) return []
    return [{ method: message['method'], params: message['params'], line: index + 2 }]
  })
}

const isAnswerTo = (message: JsonValue, id: JsonValue | undefined): boolean =>
  isJsonObject(message) && message['method'] === undefined && message['id'] === id
