import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { callTool, mint, openTestGateway, postJson, request } from '../fixture/test-gateway.ts'
import { type Placement, TestSession, TestSocket, refusedUpgrade } from '../fixture/wires.ts'

const PLACEMENTS: readonly Placement[] = ['header', 'query', 'subprotocol']
const PASSWORD = 'marker-password-marker'
const JUDGE_TOKEN = 'marker-judge-token-of-at-least-32-characters'

test('fault 11: no secret is in any log line, metric, error or audit line, whoever shows it, wherever, and whatever becomes of it', async () => {
  await using gw = await openTestGateway({ judgeToken: JUDGE_TOKEN, signup: true })
  const { url, ws } = gw.gateway
  const answers: string[] = []
  const keep = async (response: Response): Promise<Response> => {
    answers.push(await response.clone().text(), ...[...response.headers.values()])
    return response
  }

  await gw.admin('user.add', { username: 'ada', password: PASSWORD })
  const good = {
    personal: (await mint(gw, { role: 'user', username: 'ada' })).token,
    judge: (await mint(gw, { role: 'judge', name: 'j1' })).token,
    fixed: JUDGE_TOKEN,
    jwt: gw.adminToken,
  }
  const doomed = await mint(gw, { role: 'judge', name: 'j2' })
  await gw.admin('token.revoke', { id: doomed.id })
  const bad = {
    unknown: `pat_${randomBytes(32).toString('base64url')}`,
    shapeless: `marker${randomBytes(24).toString('hex')}`,
    forged: `${gw.adminToken.slice(0, -8)}AAAAAAAA`,
    revoked: doomed.token,
    // As a header this is no `Bearer <token>` at all.
    broken: `marker ${randomBytes(16).toString('hex')}`,
  }

  for (const token of Object.values(good)) {
    for (const placement of PLACEMENTS) {
      const socket = await TestSocket.open(ws, token, placement)
      await socket.call('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: token, version: '1' },
      })
      await socket.call('tools/call', { name: 'no.such' })
      await socket.call('no/such')
      socket.socket.close()
      await socket.closed
    }
    await TestSession.open(url, token)
    await callTool(url, token, 'account.get')
  }
  for (const token of Object.values(bad)) {
    const headers = { authorization: `Bearer ${token}` }
    await keep(await fetch(`${url}/mcp`, { method: 'POST', headers }))
    await keep(await fetch(`${url}/api/auth/me`, { headers }))
    await keep(await fetch(`${url}/mcp?token=${encodeURIComponent(token)}`))
    await keep(await fetch(`${url}/nowhere/${encodeURIComponent(token)}?token=${encodeURIComponent(token)}`))
    for (const placement of PLACEMENTS) {
      if (placement === 'subprotocol' && token.includes(' ')) continue
      answers.push(JSON.stringify(await refusedUpgrade(ws, token, placement)))
    }
  }
  const guess = 'marker-guess-marker'
  await keep(await postJson(`${url}/api/auth/login`, { username: 'ada', password: guess }))
  await keep(await postJson(`${url}/api/auth/login`, { username: guess, password: guess }))
  await keep(await postJson(`${url}/api/auth/link`, { token: `lnk_${guess}` }))
  await keep(await postJson(`${url}/api/auth/signup`, { username: 'ada', password: guess }))
  const link = String((await gw.admin('user.link', { username: 'ada' })).structuredContent?.['url']).split('=')[1] ?? ''
  const { access_token: byLink } = (await (await postJson(`${url}/api/auth/link`, { token: link })).json()) as {
    access_token: string
  }
  await postJson(`${url}/api/auth/logout`, {}, { authorization: `Bearer ${byLink}` })
  await keep(await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${byLink}` } }))

  const metrics = await (await fetch(`${url}/metrics`)).text()
  const audit = String((await gw.admin('audit.export', { max_bytes: 1_048_576 })).structuredContent?.['jsonl'])
  const listed = JSON.stringify((await request(url, gw.adminToken, 'tools/call', { name: 'token.list' })).body)
  const said = { logs: gw.logged.join(''), metrics, audit, listed, answers: answers.join('\n') }

  const secrets = [
    ...Object.values(good),
    ...Object.values(bad),
    PASSWORD,
    guess,
    link,
    byLink,
    String(gw.gateway.firstAdmin?.signIn).split('=')[1] ?? '',
  ]
  const leaks = Object.entries(said).flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => [where, secret]),
  )
  expect(leaks).toEqual([])
  // The test must see what it searches: each of these places did say something about what happened.
  expect(said.logs).toContain('connection opened')
  expect(said.logs).toContain('connection denied')
  expect(said.metrics).toContain('revoked_token')
  expect(said.audit).toContain('unknown_token')
  expect(said.answers).toContain('malformed_authorization')
  const ofConnections = gw.logged.filter((line) => /"msg":"(?:connection (?:opened|closed)|served)"/.test(line))
  expect(ofConnections.filter((line) => !line.includes('"role":'))).toEqual([])
})
