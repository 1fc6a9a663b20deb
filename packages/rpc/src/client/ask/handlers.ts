import { type JsonObject, RpcError, isJsonObject } from '@parley/protocol'
import type { ServerRequest } from './inbound.ts'

export interface AskContext {
  readonly signal: AbortSignal
}
type Handler = (params: JsonObject, context: AskContext) => JsonObject | Promise<JsonObject>

/** What this client can be asked, the same in both eras. Declare the matching capability beside it. */
export interface ClientHandlers {
  /** Answers `{ action, content? }`; the form's defaults are filled in on `accept`. */
  readonly elicit?: Handler
  /** Answers `{ role, content, model, stopReason? }`. */
  readonly sample?: Handler
  /** Answers `{ roots: [...] }`. */
  readonly roots?: Handler
}

/** Answers one question of the server with the handler for its kind. */
export async function answerAsk(
  handlers: ClientHandlers,
  { method, params, signal }: Pick<ServerRequest, 'method' | 'params' | 'signal'>,
): Promise<JsonObject> {
  const handler = handlerFor(handlers, method)
  if (handler === undefined) throw new RpcError('method_not_found', `this client does not answer ${method}`)
  const answer = await handler(params, { signal })
  if (method !== 'elicitation/create' || answer.action !== 'accept' || params.mode === 'url') return answer
  return {
    ...answer,
    content: applyElicitationDefaults(params.requestedSchema, isJsonObject(answer.content) ? answer.content : {}),
  }
}

function handlerFor(handlers: ClientHandlers, method: string): Handler | undefined {
  switch (method) {
    case 'elicitation/create':
      return handlers.elicit
    case 'sampling/createMessage':
      return handlers.sample
    case 'roots/list':
      return handlers.roots
    default:
      return undefined
  }
}

/** Fills in the defaults of a form for every field that the answer leaves out. */
export function applyElicitationDefaults(requestedSchema: unknown, content: JsonObject): JsonObject {
  if (!isJsonObject(requestedSchema) || !isJsonObject(requestedSchema.properties)) return content
  const filled: JsonObject = { ...content }
  for (const [name, field] of Object.entries(requestedSchema.properties)) {
    if (filled[name] === undefined && isJsonObject(field) && field.default !== undefined) filled[name] = field.default
  }
  return filled
}
