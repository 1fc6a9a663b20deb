import { isJsonObject, parseJson } from '@parley/protocol/wire'
import { plainText } from './plain-text.ts'

/** A line of a structured log as those of our other programs look, for a terminal; what is none stays as it is. */
export function logLine(json: string, program: string): string {
  const entry = parseJson(json)
  if (!isJsonObject(entry)) return json
  const { time, level, msg, ...more } = entry
  const fields = Object.entries(more).map(([name, value]) => `${name}=${isJsonObject(value) ? wordsOf(value) : textOf(value)}`)
  const about = fields.length === 0 ? '' : ` (${fields.join(', ')})`
  return `${plainText(`${textOf(time)} ${program} ${textOf(level)}: ${textOf(msg)}${about}`)}\n`
}

/** An error by its message: where in the code it came from is for whoever reads the log itself. */
const wordsOf = (value: object): string =>
  'message' in value && typeof value.message === 'string' ? value.message : JSON.stringify(value)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
