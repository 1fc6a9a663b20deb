import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import { type Caller, Denied, type HttpReply, type HttpRequest, openHttpServer } from '@parley/rpc'
import type { ScenarioAnswer } from '../record/scenario.ts'
import { Ids, itemOf, offeredIn } from './model-item.ts'

const BODY_BYTES = 16 * 1024 * 1024
/** Who asks: without a name the room for bodies would be that of a stranger. */
const CODEX: Caller = { key: 'codex' }
const STATE_KEY_BYTES = 32
const DELTA_CHARACTERS = 16
const CLOSE_MS = 0
const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
}

type ModelEvent = JsonObject & { readonly type: string }

/**
 * How an answer is refused. `event`: the stream ends with a failure, which recorded Codexes were set not to try again;
 * `status`: the request itself is refused for good, for an engine that would try an event again.
 */
export type Refusal = 'event' | 'status'

export interface LoopbackModel extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string
  /** Gives these answers from now on, one for each request. */
  play(answers: readonly ScenarioAnswer[], refusal?: Refusal): void
}

/** A model on this machine alone that gives the answers of a scenario, over the Responses API. */
export async function openLoopbackModel(random: (bytes: number) => Uint8Array): Promise<LoopbackModel> {
  let left: ScenarioAnswer[] = []
  let refusal: Refusal = 'event'
  let ids = new Ids(random)
  const respond = async (request: HttpRequest): Promise<HttpReply | undefined> => {
    if (request.method !== 'POST' || request.path !== '/v1/responses') return undefined
    const body = parseJson((await request.body(BODY_BYTES, CODEX)).toString('utf8'))
    const answer = left.shift()
    if (answer === undefined) return refused({ message: 'there is no answer left' })
    if ('refuse' in answer && refusal === 'status') return refused({ code: 'server_error', message: answer.refuse })
    const events = eventsOf(answer, isJsonObject(body) ? body : {}, ids)
    const isStalled = 'stall' in answer
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: streamed(events, isStalled ? request.signal : undefined),
    }
  }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: {
      authenticate: () => {
        throw new Denied(403, 'no_mcp', 'this is a model and no MCP server')
      },
      serviceFor: () => {
        throw new TypeError('nobody comes in')
      },
    },
    routes: [respond],
    stateKey: random(STATE_KEY_BYTES),
  })
  return {
    url: `${server.url}/v1`,
    play: (answers, how = 'event') => {
      left = [...answers]
      refusal = how
      ids = new Ids(random)
    },
    [Symbol.asyncDispose]: () => server.close(CLOSE_MS),
  }
}

function refused(error: JsonObject): HttpReply {
  return { status: 400, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error }) }
}

async function* streamed(events: readonly ModelEvent[], stalledUntil: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  yield Buffer.from(text)
  if (stalledUntil === undefined || stalledUntil.aborted) return
  await new Promise((resolve) => stalledUntil.addEventListener('abort', resolve, { once: true }))
}

function eventsOf(answer: ScenarioAnswer, body: JsonObject, ids: Ids): readonly ModelEvent[] {
  const response = { id: ids.item('resp') }
  const created = { type: 'response.created', response }
  if ('refuse' in answer) {
    const error = { code: 'server_error', message: answer.refuse }
    return [created, { type: 'response.failed', response: { ...response, error } }]
  }
  if ('stall' in answer) {
    const item = itemOf({ say: answer.stall }, offeredIn(body), ids)
    return [created, ...itemEvents(item, 0).slice(0, -1)]
  }
  const offered = offeredIn(body)
  const items = answer.map((move) => itemOf(move, offered, ids))
  const completed = { type: 'response.completed', response: { ...response, usage: USAGE } }
  return [created, ...items.flatMap(itemEvents), completed]
}

function itemEvents(item: JsonObject, index: number): readonly ModelEvent[] {
  const at = { item_id: item['id'] ?? '', output_index: index }
  const done = { type: 'response.output_item.done', output_index: index, item }
  if (item['type'] === 'message') {
    const added = { ...item, status: 'in_progress', content: [] }
    return [
      { type: 'response.output_item.added', output_index: index, item: added },
      ...pieces(textIn(item['content'])).map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta })),
      done,
    ]
  }
  if (item['type'] !== 'reasoning') return [done]
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, summary: [] } },
    { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: { type: 'summary_text', text: '' } },
    ...pieces(textIn(item['summary'])).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      ...at,
      summary_index: 0,
      delta,
    })),
    done,
  ]
}

function textIn(parts: unknown): string {
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined
  return typeof first === 'object' && first !== null && 'text' in first ? String(first.text) : ''
}

function pieces(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${DELTA_CHARACTERS}}`, 'g')) ?? []
}
