// Which scope of a token lets which tool and resource in. Written out on purpose: a change here is a change of what tokens may do.
import { type Scope, TOOLS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { callTool, listIn, mint, openTestGateway, request, type TestGateway } from './fixture/test-gateway.ts'

const SCOPES: readonly Scope[] = ['jobs', 'agents', 'approvals', 'read', 'admin']

/** Any one of the scopes is enough; where there is none, only a sign-in or a token without scopes is. */
const TOOL_SCOPES: Readonly<Record<string, string>> = {
  'account.get': 'jobs agents approvals read admin',
  'account.passwd': '',
  'agent.abort': 'agents',
  'agent.create': 'agents',
  'agent.delete': 'agents',
  'agent.fork': 'agents',
  'agent.get': 'agents read',
  'agent.list': 'agents read',
  'agent.prompt': 'agents',
  'agent.prompts': 'agents read',
  'agent.read_log': 'agents read',
  'agent.run': 'agents',
  'agent.token': 'agents',
  'agent.update': 'agents',
  'agent.wait': 'agents read',
  'approval.decide': 'approvals',
  'approval.decide_many': 'approvals',
  'approval.get': 'approvals read',
  'approval.list': 'approvals read',
  'approval.resolve': 'approvals',
  'audit.export': 'read admin',
  'audit.search': 'read admin',
  'audit.verify': 'agents read',
  'blob.abort': 'jobs',
  'blob.begin': 'jobs',
  'blob.commit': 'jobs',
  'blob.write': 'jobs',
  'channel.delete': 'admin',
  'channel.list': 'read admin',
  'channel.models': 'read admin',
  'channel.set': 'admin',
  'chat.mark_read': 'agents',
  'chat.post': 'agents',
  'chat.read_since': 'agents read',
  'executor.drain': 'admin',
  'executor.list': 'read admin',
  'grant.list': 'read admin',
  'grant.set': 'admin',
  'host.drain': 'admin',
  'host.list': 'read admin',
  'job.cancel': 'jobs',
  'job.create': 'jobs',
  'job.delete': 'jobs',
  'job.get_artifacts': 'jobs read',
  'job.get_input': 'jobs read',
  'job.get_state': 'jobs read',
  'job.get_test_preview': 'jobs read',
  'job.get_tests': 'jobs read',
  'job.list': 'jobs read',
  'job.read_input': 'jobs read',
  'job.read_log': 'jobs read',
  'job.retry': 'jobs',
  'job.start': 'jobs',
  'job.subscribe': 'jobs read',
  'job.unsubscribe': 'jobs read',
  'job.wait': 'jobs read',
  'judge.drain': 'admin',
  'judge.list': 'read admin',
  'models.list': 'jobs agents read',
  'mount.attach': 'agents',
  'mount.detach': 'agents',
  'mount.list': 'agents read',
  'mount.sign_in': 'agents',
  'policy.activate': 'approvals',
  'policy.disallow': 'approvals',
  'policy.get': 'agents approvals read',
  'policy.history': 'agents approvals read',
  'policy.list_proposals': 'agents approvals read',
  'policy.propose': 'agents',
  'policy.replay': 'approvals',
  'policy.retire': 'approvals',
  'policy.set': 'approvals',
  'policy.test': 'agents approvals read',
  'pricing.delete': 'admin',
  'pricing.list': 'read admin',
  'pricing.set': 'admin',
  'token.create': 'admin',
  'token.list': 'read admin',
  'token.revoke': 'admin',
  'usage.events': 'read',
  'usage.summary': 'read',
  'user.add': 'admin',
  'user.delete': 'admin',
  'user.demote': 'admin',
  'user.disable': 'admin',
  'user.enable': 'admin',
  'user.link': '',
  'user.list': 'read admin',
  'user.passwd': '',
  'user.promote': '',
  'user.set_identity': '',
  'user.set_quota': 'admin',
}

const RESOURCE_SCOPES: Readonly<Record<string, string>> = {
  'resource://account': 'jobs agents approvals read admin',
  'resource://agents/list': 'agents read',
  'resource://agents/{id}/state': 'agents read',
  'resource://agents/{id}/mounts': 'agents read',
  'resource://agents/{id}/calls/{call_id}': 'agents read',
  'resource://agents/{id}/chat': 'agents read',
  'resource://agents/{id}/transcript': 'agents read',
  'resource://agents/{id}/calls': 'agents read',
  'resource://agents/{id}/approvals': 'agents approvals read',
  'resource://agents/{id}/policy': 'agents approvals read',
  'resource://agents/{id}/proposals': 'agents approvals read',
  'resource://approvals/pending': 'approvals read',
  'resource://hosts/list': 'read admin',
  'resource://jobs/list': 'jobs read',
  'resource://jobs/{id}/state': 'jobs read',
  'resource://jobs/{id}/report': 'jobs read',
  'resource://jobs/{id}/terminal': 'jobs read',
  'resource://jobs/{id}/agent-status': 'jobs read',
  'resource://jobs/{id}/cases': 'jobs read',
  'resource://judges/list': 'read admin',
  'resource://executors/list': 'read admin',
  'resource://models/list': 'jobs agents read',
  'resource://users/list': 'read admin',
  'resource://tokens/list': 'read admin',
}

const ADMIN_TOOLS = new Set<string>(Object.values(TOOLS).flatMap(({ name, roles }) => (String(roles) === 'admin' ? [name] : [])))

const within = (table: Readonly<Record<string, string>>, scope: Scope): string[] =>
  Object.keys(table).filter((name) => table[name]?.split(' ').includes(scope))

async function listed(gw: TestGateway, token: string): Promise<string[]> {
  const { body } = await request(gw.gateway.url, token, 'tools/list')
  return listIn<{ name: string }>(body.result, 'tools').map(({ name }) => name)
}

/** Nothing that a tool needs is handed over; whether the token lets it in shows all the same. */
async function isRefused(gw: TestGateway, token: string, name: string): Promise<boolean> {
  const { _meta: meta, content } = await callTool(gw.gateway.url, token, name)
  const text = content[0]?.text ?? ''
  if (!text.includes('this token has')) return false
  const scopes = TOOL_SCOPES[name]?.replaceAll(' ', ' or ')
  const needed = scopes === '' ? 'a sign-in or a token without scopes' : `the scope ${scopes}`
  expect({ text, meta }).toMatchObject({
    text: expect.stringContaining(`forbidden: ${name} needs ${needed}; this token has `),
    meta: { 'parley/error': { code: 'forbidden', hint: expect.stringContaining('parley token create --role user --user root') } },
  })
  return true
}

test('every tool × scope, for an admin and for a user: what is listed, and what is let in', { timeout: 120_000 }, async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'root', admin: true })
  await gw.admin('user.add', { username: 'ada' })
  const every = Object.keys(TOOL_SCOPES)
  const whole = await mint(gw, { role: 'user', username: 'root' })
  expect(await listed(gw, whole.token)).toEqual(every)
  expect(await listed(gw, gw.adminToken)).toEqual(every)
  for (const scope of SCOPES) {
    const { token } = await mint(gw, { role: 'user', username: 'root', scopes: [scope] })
    const mine = within(TOOL_SCOPES, scope)
    expect({ scope, listed: await listed(gw, token) }).toEqual({ scope, listed: mine })
    const letIn: string[] = []
    for (const name of every) if (!(await isRefused(gw, token, name))) letIn.push(name)
    expect({ scope, letIn }).toEqual({ scope, letIn: mine })
    if (scope === 'admin') continue
    const { token: hers } = await mint(gw, { role: 'user', username: 'ada', scopes: [scope] })
    expect({ scope, listed: await listed(gw, hers) }).toEqual({ scope, listed: mine.filter((name) => !ADMIN_TOOLS.has(name)) })
  }
})

test('every resource × scope: what is listed, what is read, and what is said of the rest', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'root', admin: true })
  const uriOf = (template: string): string =>
    template.replace('{id}', `${template.includes('jobs') ? 'job' : 'agt'}_${'0'.repeat(26)}`)
  for (const scope of SCOPES) {
    const { token } = await mint(gw, { role: 'user', username: 'root', scopes: [scope] })
    const ask = async (method: string, params = {}) => (await request(gw.gateway.url, token, method, params)).body
    const fixed = listIn<{ uri: string }>((await ask('resources/list')).result, 'resources').map(({ uri }) => uri)
    const { result } = await ask('resources/templates/list')
    const templates = listIn<{ uriTemplate: string }>(result, 'resourceTemplates').map(({ uriTemplate }) => uriTemplate)
    const mine = within(RESOURCE_SCOPES, scope)
    expect([...fixed, ...templates].toSorted()).toEqual(mine.toSorted())
    for (const [template, scopes] of Object.entries(RESOURCE_SCOPES)) {
      const uri = uriOf(template)
      const { error } = await ask('resources/read', { uri })
      const needs = `${template} needs the scope ${scopes.replaceAll(' ', ' or ')}; this token has ${scope}`
      if (mine.includes(template)) expect(error?.message ?? 'there is no such resource').toBe('there is no such resource')
      else
        expect(error).toMatchObject({
          code: -32602,
          message: expect.stringContaining(needs),
          data: { uri, scopes: scopes.split(' ') },
        })
    }
  }
})

test('several scopes are what each of them is, and the account says which', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const { token } = await mint(gw, { role: 'user', username: 'ada', scopes: ['approvals', 'jobs'] })
  const either = new Set([...within(TOOL_SCOPES, 'jobs'), ...within(TOOL_SCOPES, 'approvals')])
  expect(await listed(gw, token)).toEqual([...either].filter((name) => !ADMIN_TOOLS.has(name)).toSorted())
  const scopes = ['jobs', 'approvals']
  expect((await callTool(gw.gateway.url, token, 'account.get')).structuredContent).toMatchObject({ username: 'ada', scopes })
  const me = await fetch(`${gw.gateway.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ user: { username: 'ada' }, scopes })
  expect((await gw.admin('account.get')).structuredContent).toMatchObject({ scopes: null })
})

test('a tool of another role is as unknown to a token with scopes as to any other', async () => {
  await using gw = await openTestGateway()
  await gw.admin('user.add', { username: 'ada' })
  const { token } = await mint(gw, { role: 'user', username: 'ada', scopes: ['jobs'] })
  for (const name of ['token.create', 'judge.claim_next', 'no.such']) {
    const { body } = await request(gw.gateway.url, token, 'tools/call', { name, arguments: {} })
    expect(body.error).toMatchObject({ code: -32602, message: `unknown tool: ${name}` })
  }
})
