import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openTestGateway, request } from '../fixture/test-gateway.ts'
import type { PageFiles } from './page-route.ts'

const FILES: Record<string, { body: string; contentType: string }> = {
  '/index.html': { body: '<!doctype html><title>Parley</title>', contentType: 'text/html; charset=utf-8' },
  '/assets/app-1234.js': { body: 'console.log(1)', contentType: 'text/javascript' },
}
const page: PageFiles = (path) => {
  const file = FILES[path]
  return file === undefined ? undefined : { ...file, etag: `"${path.length}"` }
}

test('the page is served with a strict policy, cached as its name allows, and answers its own paths', async () => {
  await using gw = await openTestGateway({ page })
  const { url } = gw.gateway
  const home = await fetch(`${url}/`)
  expect(await home.text()).toContain('<title>Parley')
  expect(Object.fromEntries(home.headers)).toMatchObject({
    'content-security-policy': expect.stringContaining("script-src 'self'"),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
  })
  expect(home.headers.get('content-security-policy')).not.toContain('unsafe')
  const script = await fetch(`${url}/assets/app-1234.js`)
  expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  const known = await fetch(`${url}/`, { headers: { 'if-none-match': String(home.headers.get('etag')) } })
  expect([known.status, await known.text()]).toEqual([304, ''])

  const html = { headers: { accept: 'text/html,*/*' } }
  expect(await (await fetch(`${url}/jobs/17`, html)).text()).toContain('<title>Parley')
  for (const path of [
    '/assets/gone.js',
    '/api/nothing',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/v1/files',
  ])
    expect({ path, status: (await fetch(url + path, html)).status }).toEqual({ path, status: 404 })
  expect((await fetch(`${url}/jobs/17`)).status).toBe(404)
  expect((await fetch(`${url}/`, { method: 'POST' })).status).toBe(405)
})

test('a file is sent as the client takes it, each coding under a tag of its own, and nothing else is compressed', async () => {
  const plain = 'console.log(1)'.repeat(100)
  const coded = { br: brotliCompressSync(plain), gzip: gzipSync(plain) }
  const files: PageFiles = (path) =>
    path === '/assets/app.js' ? { body: plain, contentType: 'text/javascript', etag: '"abc"', coded } : page(path)
  await using gw = await openTestGateway({ page: files })
  const ask = async (accept: string, path = '/assets/app.js', more: { method?: string; known?: string } = {}) => {
    const { method = 'GET', known } = more
    const headers = { 'accept-encoding': accept, ...(known === undefined ? {} : { 'if-none-match': known }) }
    return rawRequest(`${gw.gateway.url}${path}`, { method, headers })
  }
  for (const [accept, encoding, etag, body] of [
    ['gzip, br', 'br', '"abc-br"', coded.br],
    ['br;q=0.1, gzip', 'gzip', '"abc-gzip"', coded.gzip],
    ['identity', undefined, '"abc"', Buffer.from(plain)],
  ] as const) {
    const got = await ask(accept)
    const { 'content-encoding': said, 'content-length': length, etag: tag, vary } = got.headers
    expect({ said, length, tag, vary }).toEqual({
      said: encoding,
      length: String(body.length),
      tag: etag,
      vary: 'Accept-Encoding',
    })
    expect(got.body).toEqual(body)
    const head = await ask(accept, undefined, { method: 'HEAD' })
    expect([head.headers['content-length'], head.headers.etag, head.body.length]).toEqual([length, etag, 0])
    const again = await ask(accept, undefined, { known: `"other", W/${etag}` })
    expect([again.status, again.headers.etag, again.headers.vary]).toEqual([304, etag, 'Accept-Encoding'])
  }
  // Another coding's tag is another's bytes.
  expect((await ask('gzip', undefined, { known: '"abc-br"' })).status).toBe(200)
  for (const path of ['/', '/healthz', '/api/auth/me', '/metrics'])
    expect({ path, encoding: (await ask('br, gzip', path)).headers['content-encoding'] }).toEqual({ path, encoding: undefined })
})

test('health, readiness and metrics', async () => {
  await using gw = await openTestGateway()
  const { url } = gw.gateway
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok', version: '0.0.0-test' })
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', version: '0.0.0-test' })
  await request(url, gw.adminToken, 'tools/list')
  await request(url, gw.adminToken, 'no/such')
  await gw.admin('account.get')
  await request(url, undefined, 'tools/list')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('parley_requests_total{wire="http",era="modern",role="user",method="tools/list",code="ok"} 1')
  expect(metrics).toContain('parley_requests_total{wire="http",era="modern",role="user",method="other",code="-32601"} 1')
  expect(metrics).toContain('parley_tool_calls_total{tool="account.get",outcome="ok"} 1')
  expect(metrics).toContain('parley_denied_total{wire="http",status="401",code="missing_authorization"} 1')
  expect(metrics).toContain('parley_request_seconds_count 3')
  // Somebody from elsewhere, through a proxy on this machine.
  expect((await fetch(`${url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(403)
})

test('a name that is not ours is refused, against pages that rebind theirs to this machine', async () => {
  await using gw = await openTestGateway({ publicUrl: 'https://parley.example/' })
  const from = (origin: string) => fetch(`${gw.gateway.url}/healthz`, { headers: { origin } })
  expect((await from('https://parley.example')).status).toBe(200)
  expect((await from('https://evil.example')).status).toBe(403)
  const { structuredContent } = await gw.admin('user.link', { username: 'admin' })
  expect(structuredContent?.['url']).toMatch(/^https:\/\/parley\.example\/#link=/)
})

/** What came over the wire, not unpacked as `fetch` does. */
async function rawRequest(
  url: string,
  options: { readonly method: string; readonly headers: Readonly<Record<string, string>> },
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    httpRequest(url, options, (response) => {
      const { statusCode: status = 0, headers } = response
      buffer(response).then((body) => resolve({ status, headers, body }), reject)
    })
      .on('error', reject)
      .end()
  })
}
