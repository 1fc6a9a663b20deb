import { messageOf } from '@parley/protocol'
import { visibleLine } from '@parley/protocol/visible'
import { parse, TomlError } from 'smol-toml'
import { type ParsedPolicy, parsePolicy } from './parse-policy.ts'

/** As much of a line as tells which one it is. */
const LINE_CHARS = 60

/** A policy from its text. Whatever is wrong with it is said, and nothing is thrown. */
export function readPolicy(text: string): ParsedPolicy {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    return { kind: 'problems', problems: [{ rule: null, field: null, problem: tomlProblem(error, text), hint: null }] }
  }
  return parsePolicy(value)
}

/** What is wrong and where, on one line: the parser's own words go over several and name the place in a drawing. */
function tomlProblem(error: unknown, text: string): string {
  const problem = tomlFault(error)
  if (!(error instanceof TomlError)) return problem
  const line = text.split(/\r?\n/)[error.line - 1]?.trim() ?? ''
  const shown = line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line
  return `${problem}${shown === '' ? '' : `: ${visibleLine(shown)}`}`
}

/** The same without any of the text, for what may hold secrets. */
export function tomlFault(error: unknown): string {
  const [first = ''] = messageOf(error).split('\n', 1)
  const problem = first.replace('Invalid TOML document', 'this is no TOML')
  return error instanceof TomlError ? `line ${error.line}, column ${error.column}: ${problem}` : problem
}
