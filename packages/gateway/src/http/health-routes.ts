import { within } from '@parley/protocol'
import type { Route } from '@parley/rpc'
import { type Store, unavailableWords } from '@parley/store'
import { json, problem } from './reply.ts'

const PING_TIMEOUT_MS = 2_000
/** One answer of the database serves everybody who asks within this time. */
const PING_FRESH_MS = 500

/** `/healthz`: the process answers. `/readyz`: it can do its work, and is not on its way out. */
export function healthRoutes(options: {
  readonly store: Pick<Store, 'ping'>
  readonly version: string
  readonly draining: () => boolean
  readonly now: () => number
}): Route {
  const { store, version, draining, now } = options
  let pinged: { readonly at: number; readonly fault: Promise<string | undefined> } | undefined
  const faultOfStore = (): Promise<string | undefined> => {
    if (pinged === undefined || now() - pinged.at > PING_FRESH_MS) pinged = { at: now(), fault: faultInTime(store) }
    return pinged.fault
  }
  return async ({ method, path }) => {
    if (path !== '/healthz' && path !== '/readyz') return undefined
    if (method !== 'GET' && method !== 'HEAD')
      return problem(405, { code: 'method_not_allowed', message: 'use GET' }, { allow: 'GET, HEAD' })
    if (path === '/healthz') return json(200, { status: 'ok', version })
    if (draining()) return problem(503, { code: 'draining', message: 'shutting down' }, { 'retry-after': '5' })
    const fault = await faultOfStore()
    return fault === undefined
      ? json(200, { status: 'ready', version })
      : problem(503, { code: 'unavailable', message: fault }, { 'retry-after': '5' })
  }
}

/** What keeps the database from being used, in words; `undefined` when nothing does. */
function faultInTime(store: Pick<Store, 'ping'>): Promise<string | undefined> {
  return within(
    store.ping().then(() => undefined, unavailableWords),
    PING_TIMEOUT_MS,
    unavailableWords(undefined),
  )
}
