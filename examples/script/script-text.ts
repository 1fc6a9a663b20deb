import { type JsonObject, ModelScript } from '@parley/protocol'
import type { Written } from './conversation.ts'
import { eventsOf } from './events.ts'

const CONTEXT_TOKENS = 400_000
/** Between two events: quick enough for a test, slow enough to be watched. */
const PAUSE_MS = 10

/** The script as a file, one event a line, so that a change of it can be read. */
export function scriptText(name: string, { model, displayName, answers }: Written): string {
  const head = {
    schema_version: 'script.v1',
    model,
    display_name: displayName,
    wire: 'responses',
    context_tokens: CONTEXT_TOKENS,
  }
  const streams = answers.map((said, index) => eventsOf(said, { model, id: `${name}_${index + 1}` }))
  ModelScript.parse({ ...head, answers: streams.map((events) => ({ pause_ms: PAUSE_MS, events })) })
  const fields = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  return `{\n${fields.join('')}  "answers": [\n${streams.map(answerText).join(',\n')}\n  ]\n}\n`
}

function answerText(events: readonly JsonObject[]): string {
  const lines = events.map((event) => `      ${JSON.stringify(event)}`)
  return `    { "pause_ms": ${PAUSE_MS}, "events": [\n${lines.join(',\n')}\n    ]}`
}
