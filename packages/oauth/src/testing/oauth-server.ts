import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'

/** An MCP server on loopback that wants a token, with an authorization server in the same place that signs everybody in. */
export interface OauthTestServer extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  /** Tokens that are good. */
  readonly granted: Set<string>
  /** Every secret that was given out, good or not. */
  readonly issued: string[]
  /** What renews tokens; each is good for one use. Without any of them somebody has to sign in again. */
  readonly renewals: Set<string>
  /** Paths in the order in which they were asked for. */
  readonly asked: string[]
}
export interface OauthTestOptions {
  /** What the person answers on the page. */
  readonly consent?: 'yes' | 'no'
  /** Whether clients may register themselves. */
  readonly registers?: boolean
  /** False: nothing here speaks of OAuth. */
  readonly protected?: boolean
  /** What stands behind the token; left out, a word. */
  readonly serve?: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** What the two documents say instead of the truth. */
  readonly lies?: { readonly resource?: object; readonly server?: object }
}

export async function openOauthServer({
  consent = 'yes',
  registers = true,
  protected: isProtected = true,
  serve: behind,
  lies = {},
}: OauthTestOptions = {}): Promise<OauthTestServer> {
  const granted = new Set<string>()
  const asked: string[] = []
  const issued: string[] = []
  const renewals = new Set<string>()
  const codes = new Map<string, URLSearchParams>()
  let origin = ''
  const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const grant = (): object => {
    const token = `at-${randomBytes(8).toString('hex')}`
    const renewal = `rt-${randomBytes(8).toString('hex')}`
    granted.add(token)
    renewals.add(renewal)
    issued.push(token, renewal)
    return { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: renewal, scope: 'tools' }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', origin)
    asked.push(`${request.method} ${url.pathname}`)
    if (!isProtected && url.pathname !== '/mcp') return json(response, 404, {})
    switch (url.pathname) {
      case '/mcp': {
        const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
        if (!isProtected || (token !== undefined && granted.has(token)))
          return behind === undefined ? json(response, 200, { ok: true }) : behind(request, response)
        const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
        return json(response, 401, { error: 'unauthorized' }, { 'www-authenticate': challenge })
      }
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, {
          resource: `${origin}/mcp`,
          authorization_servers: [origin],
          scopes_supported: ['tools'],
          ...lies.resource,
        })
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          ...(registers ? { registration_endpoint: `${origin}/register` } : {}),
          code_challenge_methods_supported: ['S256'],
          response_types_supported: ['code'],
          ...lies.server,
        })
      case '/register':
        return json(response, 201, { ...JSON.parse(await bodyOf(request)), client_id: 'client-1' })
      case '/authorize': {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '')
        const code = randomBytes(8).toString('hex')
        codes.set(code, url.searchParams)
        back.searchParams.set(consent === 'yes' ? 'code' : 'error', consent === 'yes' ? code : 'access_denied')
        back.searchParams.set('state', url.searchParams.get('state') ?? '')
        return void response.writeHead(302, { location: back.href }).end()
      }
      case '/token': {
        const form = new URLSearchParams(await bodyOf(request))
        if (form.get('grant_type') === 'refresh_token')
          return renewals.delete(form.get('refresh_token') ?? '')
            ? json(response, 200, grant())
            : json(response, 400, { error: 'invalid_grant' })
        const was = codes.get(form.get('code') ?? '')
        codes.delete(form.get('code') ?? '')
        const proof = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        const isGood =
          was !== undefined &&
          was.get('code_challenge') === proof &&
          was.get('redirect_uri') === form.get('redirect_uri') &&
          was.get('resource') === form.get('resource') &&
          was.get('client_id') === form.get('client_id')
        return isGood ? json(response, 200, grant()) : json(response, 400, { error: 'invalid_grant' })
      }
      default:
        return json(response, 404, { error: 'not found' })
    }
  }
  const server = createServer((request, response) => void serve(request, response))
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    url: `${origin}/mcp`,
    origin,
    granted,
    asked,
    issued,
    renewals,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}
