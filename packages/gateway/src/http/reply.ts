import { AuditUnavailable, LanesFull, oddText } from '@parley/access'
import type * as z from 'zod'
import { Denied, type HttpReply, type HttpRequest, challenge, deniedHeaders } from '@parley/rpc'
import { Conflict, InvalidArgument, StoreUnavailable, unavailableWords } from '@parley/store'

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** The least a JSON body of ours may weigh; signing in needs a few hundred bytes. */
const BODY_BYTES = 16 * 1024

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) }
}

export interface Problem {
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly hint?: string
}

export function problem(status: number, error: Problem, headers: Readonly<Record<string, string>> = {}): HttpReply {
  // A 401 always says how one comes in; what was wrong with a password stands in the body alone.
  return json(status, { error }, status === 401 ? { 'www-authenticate': challenge(), ...headers } : headers)
}

/** A request that cannot be answered as it stands; carries the answer. */
export class Refused extends Error {
  readonly reply: HttpReply
  constructor(status: number, error: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(error.message)
    this.name = 'Refused'
    this.reply = problem(status, error, headers)
  }
}

/** Reads a JSON body and checks it. JSON's content type is demanded because a foreign page cannot send it unasked. */
export async function readJson<Schema extends z.ZodType>(request: HttpRequest, schema: Schema): Promise<z.output<Schema>> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new Refused(415, { code: 'unsupported_media_type', message: 'send application/json' })
  const text = (await request.body(BODY_BYTES)).toString('utf8')
  const said = parseJson(text)
  const odd = oddText(said)
  if (odd !== undefined) throw invalid(odd.field, odd.fault)
  const parsed = schema.safeParse(said)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const field = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.')
  const message = issue?.code === 'unrecognized_keys' ? 'is not known here' : (issue?.message ?? 'is wrong')
  throw invalid(field, message)
}

function invalid(field: string | undefined, fault: string): Refused {
  const code = 'invalid_argument'
  if (field === undefined || field === '') return new Refused(422, { code, message: fault })
  return new Refused(422, { code, message: `${field}: ${fault}`, field })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused(400, { code: 'parse_error', message: 'the body is not JSON' })
  }
}

/** What an error means for an HTTP client; `undefined` for a fault of ours. */
export function replyFor(error: unknown): HttpReply | undefined {
  if (error instanceof Refused) return error.reply
  if (error instanceof Denied) {
    const { status, code, message } = error
    return problem(status, { code, message }, deniedHeaders(error))
  }
  // Disabled between the check and the sign-in: the store saw it, so nothing was given.
  if (error instanceof Conflict) return problem(409, { code: 'conflict', message: 'the account was changed meanwhile' })
  if (error instanceof InvalidArgument) return problem(422, { code: 'invalid_argument', message: error.message })
  if (error instanceof LanesFull) return problem(429, { code: 'rate_limited', message: error.message }, { 'retry-after': '2' })
  if (error instanceof AuditUnavailable || error instanceof StoreUnavailable)
    return problem(503, { code: 'unavailable', message: `${unavailableWords(error)}; try again shortly` }, { 'retry-after': '5' })
  return undefined
}
