import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonObject, type JsonValue, type ModelScript, type ModelWire, isJsonObject } from '@parley/protocol'
import { type HttpAnswer, HttpCallFailed } from '@parley/fetch'
import type { Asked } from '../asked/asked.ts'
import { ModelRefusal } from '../refusal.ts'
import { answersIn } from './place.ts'
import { wholeAnswer } from './whole.ts'

/** Plays the next answer of a script as a server of that wire would give it. `suffix` makes its ids unlike all others. */
export function playScript(script: ModelScript, asked: Asked, suffix: string, signal: AbortSignal): HttpAnswer {
  const place = answersIn(asked.body, asked.wire)
  const answer = script.answers[place]
  if (answer === undefined)
    throw new ModelRefusal(
      400,
      'script_ended',
      `the script has no more answers: the conversation holds ${place}, the script ${script.answers.length}`,
    )
  if ('status' in answer) return document(answer.status, answer.body, answer.headers)
  const events = answer.events.map((event) => withOwnIds(event, suffix))
  if (!asked.stream) return document(200, wholeAnswer(events, asked.wire), {})
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: played(events, { wire: asked.wire, pauseMs: answer.pause_ms, signal }),
  }
}

function document(status: number, body: Record<string, unknown>, headers: Readonly<Record<string, string>>): HttpAnswer {
  const told: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) told[name.toLowerCase()] = value
  return {
    status,
    headers: { ...told, 'content-type': 'application/json' },
    body: one(Buffer.from(JSON.stringify(body))),
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* played(
  events: readonly JsonObject[],
  { wire, pauseMs, signal }: { readonly wire: ModelWire; readonly pauseMs: number; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  for (const [index, event] of events.entries()) {
    if (index > 0 && pauseMs > 0) await pause(pauseMs, signal)
    yield Buffer.from(eventText(event, wire))
  }
  if (wire === 'chat') yield Buffer.from('data: [DONE]\n\n')
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    throw new HttpCallFailed('aborted', 'given up', { cause: error })
  }
}

function eventText(event: JsonObject, wire: ModelWire): string {
  const { type } = event
  const name = wire === 'responses' && typeof type === 'string' ? `event: ${type}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}

const IDS: ReadonlySet<string> = new Set(['id', 'item_id', 'call_id', 'response_id', 'tool_call_id'])

/** A script is played again and again; a client that keeps things by their ids must not mix them up. */
function withOwnIds(event: Record<string, unknown>, suffix: string): JsonObject {
  const result = renamed(event, suffix)
  return isJsonObject(result) ? result : {}
}

function renamed(value: unknown, suffix: string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => renamed(item, suffix))
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        IDS.has(name) && typeof item === 'string' ? `${item}_${suffix}` : renamed(item, suffix),
      ]),
    )
  return isLeaf(value) ? value : null
}

const isLeaf = (value: unknown): value is string | number | boolean | null =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
