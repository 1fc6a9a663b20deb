import type { Route } from '@parley/rpc'
import { problem } from './reply.ts'

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|local)$/
/** Set by proxies: whoever carries one of these is not on this machine, whatever the address says. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** `/metrics` for Prometheus, for this machine alone. */
export function metricsRoute(render: () => string): Route {
  return ({ path, remoteAddress, headers }) => {
    if (path !== '/metrics') return undefined
    if (!LOOPBACK.test(remoteAddress) || PROXY_HEADERS.some((name) => headers[name] !== undefined))
      return problem(403, { code: 'forbidden', message: '/metrics is open to this machine alone' })
    const body = render()
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
      body,
    }
  }
}
