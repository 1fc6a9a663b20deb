import { type Authenticate, type GatewayCaller, lineOf, lineOfStranger, type SignInPass, type SignInTokens } from '@parley/access'
import * as z from 'zod'
import { Password, Username, iso, isoOrNull } from '@parley/protocol'
import type { HttpReply, HttpRequest, Route } from '@parley/rpc'
import { AlreadyExists, Conflict, type SignInProof, type UserRecord } from '@parley/store'
import type { Logger } from 'pino'
import type { Metrics } from '../metric/metrics.ts'
import type { AccountWorld } from '../account/account-world.ts'
import { Refused, json, problem, readJson, replyFor } from './reply.ts'

const SignUp = z.strictObject({ username: Username, password: Password })
/** Looser than what we accept when an account is made: a wrong guess must look like any other. */
const SignIn = z.strictObject({ username: z.string().min(1).max(128), password: z.string().max(256) })
const UseLink = z.strictObject({ token: z.string().max(128) })

export interface AuthRoutesOptions {
  readonly world: AccountWorld
  readonly authenticate: Authenticate
  readonly signInTokens: SignInTokens
  readonly signup: boolean
  readonly metrics: Metrics
  readonly log: Logger
}

/** `/api/auth/*`: the only things that are not MCP, because one needs a token to speak MCP. */
export function authRoutes(options: AuthRoutesOptions): Route {
  const actions: Readonly<Record<string, (request: HttpRequest) => Promise<HttpReply>>> = {
    'POST /api/auth/signup': (request) => signUp(request, options),
    'POST /api/auth/login': (request) => logIn(request, options),
    'POST /api/auth/link': (request) => useLink(request, options),
    'POST /api/auth/link/check': (request) => checkLink(request, options),
    'POST /api/auth/logout': (request) => logOut(request, options),
    'GET /api/auth/me': (request) => me(request, options),
  }
  return async (request) => {
    if (!request.path.startsWith('/api/auth/')) return undefined
    const action = actions[`${request.method} ${request.path}`]
    if (action === undefined) return problem(404, { code: 'not_found', message: 'there is nothing here' })
    try {
      return await action(request)
    } catch (error) {
      const reply = replyFor(error)
      if (reply === undefined) throw error
      return reply
    }
  }
}

async function signUp(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  if (!options.signup)
    throw new Refused(403, { code: 'signup_disabled', message: 'sign-up is off here; ask an admin for an account' })
  const { store, passwords } = options.world
  const { username, password } = await readJson(request, SignUp)
  enter(request, options)
  if ((await store.users.byName(username)) !== undefined) throw nameTaken()
  const user = await store.users
    .add({ username, passwordHash: await passwords.hash(password), admin: false })
    .catch((error: unknown) => {
      throw error instanceof AlreadyExists ? nameTaken() : error
    })
  return signedIn(request, options, user, { action: 'sign-up', proof: { passwordHash: user.passwordHash } })
}

async function logIn(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  const { username, password } = await readJson(request, SignIn)
  const addressPass = enter(request, options)
  const { store, passwords, signInLimit } = options.world
  const user = await store.users.byName(username)
  const accountPass = signInLimit.enterAccount({ name: username, isKnown: user !== undefined })
  if (accountPass.kind === 'wait') {
    addressPass.giveBack()
    throw limited(accountPass, options)
  }
  const matches = await passwords.matches(password, user?.passwordHash ?? null)
  // A disabled account looks like a wrong password to everyone who does not know the password.
  if (user === undefined || !matches) throw wrong(request, options, WRONG_CREDENTIALS, user)
  if (user.disabled) throw wrong(request, options, ACCOUNT_DISABLED, user)
  const reply = await signedIn(request, options, user, { action: 'sign-in', proof: { passwordHash: user.passwordHash } })
  addressPass.succeeded()
  accountPass.succeeded()
  return reply
}

async function useLink(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  const { token } = await readJson(request, UseLink)
  const pass = enter(request, options)
  const { store, links } = options.world
  const taken = await links.take(token)
  const user = taken === undefined ? undefined : await store.users.byId(taken.userId)
  if (taken === undefined || user === undefined || user.disabled) {
    const state = (await links.find(token))?.state
    throw wrong(request, options, state === 'used' ? USED_LINK : state === 'expired' ? EXPIRED_LINK : UNKNOWN_LINK, user)
  }
  const reply = await signedIn(request, options, user, { action: 'sign-in.link', proof: taken.proof })
  pass.succeeded()
  return reply
}

/** What a click on the link would come to. It stays as it is, so that a page can say so before anybody clicks. */
async function checkLink(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  const { token } = await readJson(request, UseLink)
  const pass = enter(request, options)
  const { store, links } = options.world
  const link = await links.find(token)
  if (link?.state === 'used' || link?.state === 'expired') return json(200, { state: link.state })
  const user = link === undefined ? undefined : await store.users.byId(link.userId)
  if (link === undefined || user === undefined || user.disabled) {
    wrong(request, options, UNKNOWN_LINK, user)
    return json(200, { state: 'unknown' })
  }
  pass.succeeded()
  const { audit, now } = options.world
  const { remoteAddress: remote } = request
  audit.note(lineOfStranger('sign-in.link.check', { at: now(), outcome: 'ok', remote, target: user.username }))
  return json(200, { state: link.state, username: user.username, expires_at: iso(link.expiresAt) })
}

async function logOut(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  const caller = await callerOf(request, options)
  if (caller.signInId === null)
    throw new Refused(409, { code: 'conflict', message: 'this token is not a sign-in; revoke it with token.revoke' })
  await options.world.store.signIns.revoke(caller.signInId)
  const { audit, now } = options.world
  await audit.record(lineOf(caller, 'sign-out', { at: now(), outcome: 'ok' }))
  return json(200, { ok: true })
}

async function me(request: HttpRequest, options: AuthRoutesOptions): Promise<HttpReply> {
  const caller = await callerOf(request, options)
  const account = caller.userId === null ? undefined : await options.world.store.users.byId(caller.userId)
  const user =
    account === undefined ? null : { id: account.id, username: account.username, has_password: account.passwordHash !== null }
  return json(200, {
    user,
    role: caller.role,
    admin: caller.admin,
    scopes: caller.scopes,
    expires_at: isoOrNull(caller.expiresAt),
  })
}

async function signedIn(
  request: HttpRequest,
  options: AuthRoutesOptions,
  user: UserRecord,
  { action, proof }: { readonly action: string; readonly proof: SignInProof },
): Promise<HttpReply> {
  const { store, audit, now } = options.world
  const { token, expiresAt } = await options.signInTokens.issue(user.id, proof).catch((error: unknown) => {
    throw error instanceof Conflict ? wrong(request, options, ACCOUNT_CHANGED, user) : error
  })
  // In the audit log before anybody has the token: nobody gets in without a trace.
  await audit.record(lineOfStranger(action, { at: now(), outcome: 'ok', remote: request.remoteAddress, actor: user.username }))
  await store.users.signedIn(user.id)
  options.metrics.signIn('ok')
  options.log.info({ role: 'user', user: user.id, action }, 'signed in')
  return json(action === 'sign-up' ? 201 : 200, {
    access_token: token,
    token_type: 'Bearer',
    expires_at: iso(expiresAt),
    user: { id: user.id, username: user.username, role: 'user', admin: user.admin },
  })
}

function enter(request: HttpRequest, options: AuthRoutesOptions): Extract<SignInPass, { kind: 'go' }> {
  const pass = options.world.signInLimit.enter(request.remoteAddress)
  if (pass.kind === 'wait') throw limited(pass, options)
  return pass
}

function limited(pass: Extract<SignInPass, { kind: 'wait' }>, options: AuthRoutesOptions): Refused {
  options.metrics.signIn('limited')
  return new Refused(
    429,
    { code: 'rate_limited', message: `too many attempts; try again in ${pass.retryAfterSeconds} s` },
    { 'retry-after': String(pass.retryAfterSeconds) },
  )
}

interface Refusal {
  readonly status: 401 | 403 | 409
  readonly code: string
  readonly message: string
}
const WRONG_CREDENTIALS: Refusal = { status: 401, code: 'wrong_credentials', message: 'the user name or the password is wrong' }
const ACCOUNT_DISABLED: Refusal = { status: 403, code: 'account_disabled', message: 'this account is disabled; ask an admin' }
/** A new password, or somebody disabled it, between the look at what was shown and the sign-in. */
const ACCOUNT_CHANGED: Refusal = { status: 409, code: 'conflict', message: 'the account was changed meanwhile; try again' }
const ANOTHER_LINK = 'ask for another (parley user link NAME)'
const UNKNOWN_LINK: Refusal = {
  status: 401,
  code: 'unknown_link',
  message: `there is no such link, or its account has changed since; ${ANOTHER_LINK}`,
}
const USED_LINK: Refusal = { ...UNKNOWN_LINK, message: `this link was used already; ${ANOTHER_LINK}` }
const EXPIRED_LINK: Refusal = { ...UNKNOWN_LINK, message: `this link is too old; ${ANOTHER_LINK}` }

function wrong(request: HttpRequest, options: AuthRoutesOptions, refusal: Refusal, user: UserRecord | undefined): Refused {
  const { audit, now } = options.world
  const { status, code, message } = refusal
  options.metrics.signIn('denied')
  // A name that is nobody's stays out: people type their password into the wrong field.
  const target = user === undefined ? {} : { target: user.username }
  audit.note(lineOfStranger('sign-in', { at: now(), outcome: 'denied', remote: request.remoteAddress, code, ...target }))
  return new Refused(status, { code, message })
}

async function callerOf(request: HttpRequest, { authenticate }: AuthRoutesOptions): Promise<GatewayCaller> {
  return authenticate({ authorization: request.headers.authorization, remoteAddress: request.remoteAddress, wire: 'http' })
}

const nameTaken = () => new Refused(409, { code: 'already_exists', message: 'username: is taken', field: 'username' })
