import { WireError } from '@parley/fetch/browser'
import { randomUUID } from 'node:crypto'
import { type JsonObject, type JsonValue, RPC_CODES, RpcError, isJsonObject } from '@parley/protocol'
import { readMirroring } from '../client/tool/mirrored-headers.ts'
import { type Call, type Caller, InputRequired, type InputRequest } from '../service.ts'

const MODERN_META = 'io.modelcontextprotocol/'

/** A modern request as a legacy server may see it: without the envelope, and without the rounds that are ours. */
export function legacyParams(params: JsonObject): JsonObject {
  const { inputResponses: _inputResponses, requestState: _requestState, _meta, ...rest } = params
  if (!isJsonObject(_meta)) return rest
  const kept = Object.entries(_meta).filter(([key]) => !key.startsWith(MODERN_META) && key !== 'progressToken')
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) }
}

/** The error that a caller sees. What went wrong between us and the upstream is ours to explain, in no code of theirs. */
export function callerError(error: unknown, call: Pick<Call, 'era'>, upstream: Call['era']): unknown {
  if (error instanceof WireError) return wireFailure(error)
  if (!(error instanceof RpcError)) return error
  // These speak of headers and versions on our own hop: our fault, not the caller's.
  if (
    upstream === 'modern' &&
    (error.code === RPC_CODES.header_mismatch || error.code === RPC_CODES.unsupported_protocol_version)
  ) {
    return new RpcError('internal_error', `the upstream server refused this gateway: ${error.message}`)
  }
  // The old implementation codes mean nothing in the modern era.
  if (
    call.era === 'modern' &&
    upstream === 'legacy' &&
    error.code <= -32000 &&
    error.code >= -32019 &&
    error.code !== RPC_CODES.resource_not_found_legacy
  ) {
    return new RpcError('internal_error', error.message)
  }
  return error
}

const LOST: readonly WireError['code'][] = ['closed', 'stream_lost', 'session_lost']

function wireFailure(error: WireError): RpcError {
  const more = { cause: error }
  if (error.code === 'overloaded')
    return new RpcError('overloaded', `the upstream server is busy: ${error.message}`, undefined, more)
  if (!LOST.includes(error.code))
    return new RpcError('internal_error', `the upstream server did not answer: ${error.message}`, undefined, more)
  const words = `the upstream server was lost during the call, which may or may not have run: ${error.message}`
  return new RpcError('internal_error', words, undefined, more)
}

/** A call that waited for a person when the way to it was lost. What was asked stands, and the same call finds it. */
export function lostUnsent(error: WireError): RpcError {
  const words = 'a person is asked about this call, and nothing was sent yet; the way to where it waits was lost'
  return new RpcError('internal_error', `${words} (${error.message}). Make the same call again: it goes on waiting`, undefined, {
    cause: error,
  })
}

/** A legacy server's refusal until the person has visited some pages, as questions of the modern era. */
export function urlQuestions(error: unknown): Record<string, InputRequest> | undefined {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.url_elicitation_required || !isJsonObject(error.data))
    return undefined
  const pages = Array.isArray(error.data.elicitations) ? error.data.elicitations.filter(isJsonObject) : []
  if (pages.length === 0) return undefined
  return Object.fromEntries(
    pages.map((page, index): [string, InputRequest] => [
      `url${index}`,
      modernQuestion('elicitation/create', { mode: 'url', ...page }),
    ]),
  )
}

/** What a call comes to whose pages were not visited; `undefined`: they were. It never ran, so it may run then. */
export function unlessVisited<C extends Caller>(method: string, { answers }: Call<C>): JsonObject | undefined {
  const given = Object.values(answers ?? {})
  if (given.length > 0 && given.every(({ action }) => action === 'accept')) return undefined
  const text = 'a page that the server needs was not visited'
  if (method !== 'tools/call') throw new RpcError('internal_error', text)
  return { isError: true, content: [{ type: 'text', text }] }
}

/** A question of a legacy server for a modern client, which knows no `elicitationId`. */
export function modernQuestion(method: InputRequest['method'], params: JsonObject): InputRequest {
  const { elicitationId: _elicitationId, ...rest } = params
  return { method, params: rest }
}

export function isQuestion(method: unknown): method is InputRequest['method'] {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
}

/** A modern server's `input_required` for our own server side, which carries it on in the client's era. */
export function inputRequired(result: JsonObject, call: Pick<Call, 'era'>): InputRequired {
  const requests: Record<string, InputRequest> = {}
  for (const [key, request] of Object.entries(isJsonObject(result.inputRequests) ? result.inputRequests : {})) {
    if (!isJsonObject(request) || !isQuestion(request.method))
      throw new RpcError('internal_error', `the upstream server asked for something unknown: ${key}`)
    const params = isJsonObject(request.params) ? request.params : {}
    const named = call.era === 'legacy' && params.mode === 'url' ? { ...params, elicitationId: randomUUID() } : params
    requests[key] = { method: request.method, params: named }
  }
  return new InputRequired(requests, { upstream: typeof result.requestState === 'string' ? result.requestState : null })
}

/** Tools whose `x-mcp-header` breaks the rules cannot be called over modern HTTP, so a modern client is not shown them. */
export function withoutInvalidTools(result: JsonObject, log: (message: string) => void): JsonObject {
  if (!Array.isArray(result.tools)) return result
  const tools = result.tools.filter((tool) => {
    const mirroring = readMirroring(isJsonObject(tool) ? tool.inputSchema : undefined)
    if (mirroring.kind === 'invalid') log(`a tool is left out for modern clients: ${mirroring.why}`)
    return mirroring.kind === 'valid'
  })
  return tools.length === result.tools.length ? result : { ...result, tools }
}

/** Legacy clients know only objects as structured output: anything else is wrapped as `{ result }`. */
export class OutputWrapping {
  readonly #wrapped = new Set<string>()

  list(result: JsonObject): JsonObject {
    if (!Array.isArray(result.tools)) return result
    return { ...result, tools: result.tools.map((tool) => (isJsonObject(tool) ? this.#tool(tool) : tool)) }
  }

  call(name: JsonValue | undefined, result: JsonObject): JsonObject {
    const value = result.structuredContent
    if (value === undefined) return result
    const wrapped = !isJsonObject(value) || (typeof name === 'string' && this.#wrapped.has(name))
    return wrapped ? { ...result, structuredContent: { result: value } } : result
  }

  #tool(tool: JsonObject): JsonObject {
    const schema = tool.outputSchema
    if (schema === undefined || (isJsonObject(schema) && schema.type === 'object')) {
      if (typeof tool.name === 'string') this.#wrapped.delete(tool.name)
      return tool
    }
    if (typeof tool.name === 'string') this.#wrapped.add(tool.name)
    return { ...tool, outputSchema: { type: 'object', properties: { result: moved(schema) }, required: ['result'] } }
  }
}

/** The schema's own references have to follow it to its new place. */
function moved(node: JsonValue): JsonValue {
  if (Array.isArray(node)) return node.map(moved)
  if (!isJsonObject(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]): [string, JsonValue] => {
      if (key === '$ref' && typeof value === 'string' && (value === '#' || value.startsWith('#/')))
        return [key, `#/properties/result${value.slice(1)}`]
      return [key, value === undefined ? null : moved(value)]
    }),
  )
}
