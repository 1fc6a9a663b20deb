import { ConversationBusy, ConversationClosed, ConversationUnknown, InvalidArgument } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type * as z from 'zod'
import { BackendError, type BackendErrorCode } from '@parley/codex/port'
import { TooManyConversations } from '../conversation/conversations.ts'
import { PeerGone, RemoteFailure } from '@parley/rpc/line-peer'
import type { DialectFacts } from './dialect-facts.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from './error-codes.ts'

const BACKEND_CODES: Record<BackendErrorCode, number> = {
  invalid_request: INVALID_REQUEST,
  unsupported: INVALID_REQUEST,
  too_many: INVALID_REQUEST,
  failed: INTERNAL_ERROR,
  lost: INTERNAL_ERROR,
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
  new RemoteFailure(INVALID_REQUEST, `conversation not found: ${id}`, { param: 'conversationId' })

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
    return new RemoteFailure(INVALID_REQUEST, error.message, { code: error.code })
  if (error instanceof TooManyConversations)
    return new RemoteFailure(INVALID_REQUEST, `${error.limit} conversations are at work: interrupt or archive some first`)
  if (error instanceof PeerGone) return new RemoteFailure(INTERNAL_ERROR, error.message, { code: error.code })
  return undefined
}

function backendCode({ code, data }: BackendError): number {
  return isVersionGate(data) ? INVALID_PARAMS : BACKEND_CODES[code]
}

/** A parameter that the version behind it lacks. */
const isVersionGate = (data: JsonObject | undefined): boolean =>
  data?.['param'] !== undefined && data['currentVersion'] !== undefined

function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')
}

const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)
