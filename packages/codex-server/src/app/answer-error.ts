import { ConversationBusy, ConversationClosed, ConversationUnknown, InvalidArgument } from '@parley/agent'
import type { JsonObject, RpcCodeName } from '@parley/protocol'
import type * as z from 'zod'
import { BackendError, type BackendErrorCode } from '@parley/codex/port'
import { TooManyConversations } from '../conversation/conversations.ts'
import { PeerGone, RemoteFailure } from '@parley/rpc/line-peer'
import type { DialectFacts } from './dialect-facts.ts'

const BACKEND_CODES: Record<BackendErrorCode, RpcCodeName> = {
  invalid_request: 'invalid_request',
  unsupported: 'invalid_request',
  too_many: 'invalid_request',
  failed: 'internal_error',
  lost: 'internal_error',
}

/** A parameter that cannot be worked with. The code is that of the dialect. */
export class BadParams extends Error {
  readonly code = 'bad_params'
  /** As in `items[0].data.text`; empty when all of `params` is meant. */
  readonly param: string
  constructor(param: string, problem: string) {
    super(param === '' ? `params ${problem}` : `${param}: ${problem}`)
    this.name = 'BadParams'
    this.param = param
  }
}

/** The first thing that is wrong. What was sent is not repeated: it may be a secret. */
export function badParams(error: z.ZodError): BadParams {
  const [issue] = error.issues
  return new BadParams(pathText(issue?.path ?? []), issue?.message ?? 'is not what the method takes')
}

export function unknownMethod(method: string, known: readonly string[], dialect: DialectFacts): RemoteFailure {
  const message = `Invalid request: unknown method \`${cut(method)}\`, expected one of ${known.map((name) => `\`${name}\``).join(', ')}`
  return new RemoteFailure(dialect.wrongMethod, message, { param: 'method', method: cut(method) })
}

export const conversationNotFound = (id: string): RemoteFailure =>
  new RemoteFailure('invalid_request', `conversation not found: ${id}`, { param: 'conversationId' })

/** What a client hears of a failure. Undefined: a fault of ours. */
export function failureOf(error: unknown, dialect: DialectFacts): RemoteFailure | undefined {
  if (error instanceof RemoteFailure) return error
  if (error instanceof BadParams)
    return new RemoteFailure(dialect.wrongParams, `Invalid request: ${error.message}`, { param: error.param || 'params' })
  if (error instanceof InvalidArgument)
    return new RemoteFailure(dialect.wrongParams, `Invalid request: ${error.message}`, { param: error.field })
  if (error instanceof BackendError)
    return new RemoteFailure(backendCode(error), error.message, { ...error.data, code: error.code })
  if (error instanceof ConversationUnknown || error instanceof ConversationBusy || error instanceof ConversationClosed)
    return new RemoteFailure('invalid_request', error.message, { code: error.code })
  if (error instanceof TooManyConversations)
    return new RemoteFailure('invalid_request', `${error.limit} conversations are at work: interrupt or archive some first`)
  if (error instanceof PeerGone) return new RemoteFailure('internal_error', error.message, { code: error.code })
  return undefined
}

function backendCode({ code, data }: BackendError): RpcCodeName {
  return isVersionGate(data) ? 'invalid_params' : BACKEND_CODES[code]
}

/** A parameter that the version behind it lacks. */
const isVersionGate = (data: JsonObject | undefined): boolean =>
  data?.['param'] !== undefined && data['currentVersion'] !== undefined

function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')
}

const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)
