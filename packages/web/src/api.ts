import type { Role } from '@parley/protocol'
import { sentence } from './text/sentence.ts'

/** Who is signed in, as `/api/auth/me` says. */
export interface SignedInUser {
  readonly id: string | null
  readonly name: string
  readonly role: Role
  readonly admin: boolean
  readonly expiresAt: string | null
  /** Nobody comes in again without a link while there is none. */
  readonly hasPassword: boolean
}

/** What a click on a one-time link would come to. */
export type LinkCheck =
  | { readonly state: 'good'; readonly username: string; readonly expiresAt: string }
  | { readonly state: 'used' | 'expired' | 'unknown' }

export type ApiAnswer<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly message: string
      /** The gateway is there and does not know who asks. */
      readonly isSignedOut: boolean
    }

/** Why a sign-in is over, to a person. What the gateway says of it is for programs, which have tokens. */
const ENDED: Readonly<Record<string, string>> = {
  revoked_token: 'You were signed out (your password was changed, or an admin ended your sign-in). Sign in again.',
  expired_token: 'Your sign-in is over, because its time is. Sign in again.',
  unknown_token: 'Your sign-in is not known here any more. Sign in again.',
}

/** A page that waits forever looks broken; after this it says so instead. */
const ANSWER_LIMIT_MS = 15_000

export function signIn(username: string, password: string): Promise<ApiAnswer<string>> {
  return takeToken('/api/auth/login', { username, password })
}

/** Exchanges the token of a one-time link. It works once, so this runs on a click and never by itself. */
export function useLink(token: string): Promise<ApiAnswer<string>> {
  return takeToken('/api/auth/link', { token })
}

/** Looks at a link and leaves it as it is. */
export async function checkLink(token: string): Promise<ApiAnswer<LinkCheck>> {
  const answer = await post('/api/auth/link/check', { token })
  if (answer.kind === 'refused') return answer
  const [state, username, expiresAt] = ['state', 'username', 'expires_at'].map((name) => field(answer.value, name))
  if (state === 'good' && typeof username === 'string' && typeof expiresAt === 'string')
    return { kind: 'ok', value: { state, username, expiresAt } }
  return state === 'used' || state === 'expired' || state === 'unknown' ? { kind: 'ok', value: { state } } : NOT_UNDERSTOOD
}

export async function signOut(token: string): Promise<void> {
  await send('/api/auth/logout', { method: 'POST', headers: bearer(token) })
}

export async function whoAmI(token: string): Promise<ApiAnswer<SignedInUser>> {
  const answer = await send('/api/auth/me', { headers: bearer(token) })
  return answer.kind === 'refused' ? answer : { kind: 'ok', value: parseAccount(answer.value) }
}

export async function isHealthy(): Promise<boolean> {
  const response = await fetch('/healthz', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).catch(() => undefined)
  return response?.ok === true
}

async function takeToken(path: string, body: object): Promise<ApiAnswer<string>> {
  const answer = await post(path, body)
  if (answer.kind === 'refused') return answer
  const token = field(answer.value, 'access_token')
  return typeof token === 'string' ? { kind: 'ok', value: token } : NOT_UNDERSTOOD
}

function post(path: string, body: object): Promise<ApiAnswer<unknown>> {
  return send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

async function send(path: string, init: RequestInit): Promise<ApiAnswer<unknown>> {
  let response: Response
  try {
    response = await fetch(path, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
  } catch {
    return { kind: 'refused', code: 'unreachable', message: 'The gateway does not answer. Is it running?', isSignedOut: false }
  }
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return { kind: 'ok', value: body }
  const error = field(body, 'error')
  const message = field(error, 'message')
  const given = field(error, 'code')
  const code = typeof given === 'string' ? given : `http_${response.status}`
  return {
    kind: 'refused',
    code,
    message: ENDED[code] ?? (typeof message === 'string' ? sentence(message) : `The gateway answered ${response.status}.`),
    isSignedOut: response.status === 401 || response.status === 403,
  }
}

function parseAccount(body: unknown): SignedInUser {
  const role = field(body, 'role')
  const user = field(body, 'user')
  const id = field(user, 'id')
  const name = field(user, 'username')
  const expiresAt = field(body, 'expires_at')
  return {
    id: typeof id === 'string' ? id : null,
    name: typeof name === 'string' ? name : '(no name)',
    role: role === 'judge' || role === 'agent' ? role : 'user',
    admin: field(body, 'admin') === true,
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
    hasPassword: field(user, 'has_password') !== false,
  }
}

const NOT_UNDERSTOOD = {
  kind: 'refused',
  code: 'not_understood',
  message: 'The gateway gave an answer that this page does not understand.',
  isSignedOut: false,
} as const

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
