import { randomBytes } from 'node:crypto'
import { Denied, type Credentials } from '../door.ts'
import type { Route } from '../http/route.ts'
import { openHttpServer } from '../http/server.ts'
import type { HttpServer } from '../http/server-options.ts'
import type { Limits } from '../limits.ts'
import type { Observer } from '../observer.ts'
import type { Caller, Service } from '../service.ts'

export interface TestServer extends AsyncDisposable {
  readonly server: HttpServer<Caller>
  readonly mcp: string
  readonly ws: string
}

/** A real server on a free loopback port. Every bearer token is a caller of its own; `bad` is refused. `open` lets in who has none. */
export async function openTestServer(
  service: Service,
  more: {
    readonly limits?: Partial<Limits>
    readonly observer?: Observer
    readonly queryToken?: boolean
    readonly open?: boolean
    readonly routes?: readonly Route[]
    readonly trustedProxies?: readonly string[]
    readonly now?: () => number
  } = {},
): Promise<TestServer> {
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: { authenticate: more.open === true ? () => ({ key: 'anyone' }) : authenticate, serviceFor: () => service },
    stateKey: randomBytes(32),
    ...more,
  })
  return {
    server,
    mcp: `${server.url}/mcp`,
    ws: `${server.url.replace('http', 'ws')}/api/mcp/ws`,
    [Symbol.asyncDispose]: () => server.close(0),
  }
}

function authenticate({ authorization }: Credentials): Caller {
  if (authorization === undefined) throw new Denied(401, 'missing_authorization', 'send Authorization: Bearer <token>')
  if (authorization === 'Bearer bad') throw new Denied(401, 'unknown_token', 'this token is not known')
  return { key: authorization }
}
