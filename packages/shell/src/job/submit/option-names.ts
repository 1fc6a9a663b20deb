import { ToolError } from '@parley/protocol'
import { CommandError, type Invocation } from '@parley/command-line'
import { inCommands } from '@parley/command-line/wording'

/** Which option a field of `job.create` was made from. */
const OPTIONS: Readonly<Record<string, string>> = {
  statement_md: 'statement',
  title: 'title',
  language: 'language',
  model: 'model',
  upstream_channel: 'channel',
  max_attempts: 'attempts',
  'budget.tokens': 'budget-tokens',
  'budget.microusd': 'budget-usd',
  engine: 'engine',
  current_code: 'code',
  tests_zip_b64: 'tests',
  tests_blob: 'tests',
  time_limit_ms: 'time-ms',
  memory_limit_mb: 'memory-mb',
  compare_mode: 'checker',
  checker: 'checker',
  interactor: 'interactor',
  samples: 'sample',
}
/** What to give where an option was left out; the gateway would speak of fields. */
const MISSING: Readonly<Record<string, string>> = {
  tests: 'a zip of the cases, or a folder with them: 1.in with its answer 1.out, …',
}
const WRONG_USAGE = 2
const SHOWN_CHARS = 80

/** Fields whose names are no words of their own; `title` and `model` may mean what they say. */
const FIELDS = Object.keys(OPTIONS).filter((name) => /^[a-z]+_/.test(name))
const FIELD = new RegExp(String.raw`(?<![\w.])(?:${FIELDS.join('|')})(?![\w.])`, 'g')
const withOptions = (hint: string): string => hint.replaceAll(FIELD, (field) => `--${OPTIONS[field] ?? field}`)

/** The gateway speaks of fields; whoever typed options is told about those, with what was given there. */
export function inOptions(error: unknown, { values }: Pick<Invocation, 'values'>): unknown {
  if (!(error instanceof ToolError) || error.field === undefined) return error
  const option = OPTIONS[error.field] ?? OPTIONS[error.field.split(/[.[]/)[0] ?? '']
  if (option === undefined) return error
  const told = error.hint === undefined ? undefined : inCommands(withOptions(error.hint))
  const hint = values.has(option) ? told : (MISSING[option] ?? told)
  const said = error.message.startsWith(`${error.field}: `) ? error.message.slice(error.field.length + 2) : error.message
  const given = (values.text(option) ?? '').slice(0, SHOWN_CHARS)
  return new CommandError(error.code, `--${option}${given === '' ? '' : ` ${given}`}: ${said}`, {
    // What was named on the line and is not there was mistyped.
    exitCode: error.code === 'invalid_argument' || error.code === 'not_found' ? WRONG_USAGE : 1,
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  })
}
