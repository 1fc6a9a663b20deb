import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'

const kept = keeping()

type Answer = Record<string, unknown>
type Reply = ReturnType<TestGateway['admin']>
const contentOf = async (reply: Reply): Promise<Answer> => {
  const { isError, structuredContent, content } = await reply
  if (isError === true) throw new Error(JSON.stringify(content))
  return structuredContent ?? {}
}
const errorOf = async (reply: Reply) => (await reply)._meta?.['parley/error']

const ASK_ALL = `[[rule]]
name = "all"
decision = "ask"
`
const DENY_WRITES = `[[rule]]
name = "writes"
mount = "files"
tool = "write"
decision = "deny_continue"
reason = "no writing"

[[example]]
call = { mount = "files", tool = "write" }
decision = "deny_continue"
`

async function worldOf() {
  const gw = kept(await openTestGateway({ gate: 'ask' }))
  const host = kept(await TestHost.open(gw))
  const agent_id = String((await contentOf(gw.admin('agent.create', { name: 'mine' })))['agent_id'])
  await gw.store.agents.wake(agent_id as Parameters<typeof gw.store.agents.wake>[0])
  const claim = await host.claim()
  const spec = () => host.call('host.agent_get', claim)
  const activate = async (whose: object, text: string): Promise<Answer> => {
    const { version, review } = await contentOf(gw.admin('policy.set', { ...whose, text }))
    const { digest } = review as { digest: string }
    return contentOf(gw.admin('policy.activate', { ...whose, version, digest }))
  }
  const ask = async (more: object = {}) =>
    host.call('host.ask', {
      ...claim,
      kind: 'tool',
      mount: 'files',
      mount_version: 1,
      name: 'write',
      arguments_json: '{"path":"a"}',
      caller: 'tok_1',
      reason: 'r',
      policy: (await spec())['policy'],
      rule: null,
      layer: null,
      askers: ['default'],
      approvers: [],
      ...more,
    })
  const person = async (name: string) => {
    await gw.admin('user.add', { username: name, password: 'long enough for us' })
    const { token } = await mint(gw, { role: 'user', username: name })
    return (tool: string, args: object) => callTool(gw.gateway.url, token, tool, args)
  }
  return { gw, host, claim, agent_id, spec, activate, ask, person }
}

test('a draft changes nothing; it becomes active with the digest of what was shown, and hosts are told', async () => {
  const { gw, host, agent_id, spec, activate } = await worldOf()
  const drafted = await contentOf(gw.admin('policy.set', { agent_id, text: DENY_WRITES, note: 'first' }))
  expect(drafted).toMatchObject({
    layer: 'agent',
    version: 1,
    status: 'draft',
    review: { base_version: null, examples: { run: 1, failed: [] } },
  })
  expect(await spec()).toMatchObject({ policies: [], policy: '' })
  const activated = { agent_id, version: 1, digest: '0'.repeat(64) }
  expect(await errorOf(gw.admin('policy.activate', activated))).toMatchObject({ code: 'conflict', field: 'digest' })
  const { digest } = drafted['review'] as { digest: string }
  expect(await contentOf(gw.admin('policy.activate', { ...activated, digest }))).toMatchObject({
    status: 'active',
    activated_by: 'admin',
  })
  await expect.poll(() => host.told('host_control').map(({ action }) => action)).toContain('update')
  expect(await spec()).toMatchObject({ policy: 'agent:1', policies: [{ layer: 'agent', version: 1 }] })
  await activate({ layer: 'installation' }, ASK_ALL)
  await activate({ layer: 'owner' }, ASK_ALL)
  expect(await spec()).toMatchObject({ policy: 'installation:1 owner:1 agent:1' })
  const { items } = await contentOf(gw.admin('policy.history', { agent_id }))
  expect(items).toMatchObject([{ version: 1, status: 'active', note: 'first' }])
  expect(await contentOf(gw.admin('policy.get', { agent_id }))).toMatchObject({ policy: { text: DENY_WRITES } })
  expect(await contentOf(gw.admin('policy.retire', { agent_id }))).toEqual({ retired: true })
  expect(await contentOf(gw.admin('policy.get', { agent_id }))).toMatchObject({ policy: null })
})

test('fault 7: after a restart the newest active version decides, not the one that an agent began with', async () => {
  const { gw, host, claim, agent_id, activate } = await worldOf()
  await activate({ agent_id }, ASK_ALL)
  await activate({ agent_id }, DENY_WRITES)
  await host.call('host.release', claim)
  await gw.restart()
  expect(await contentOf(gw.admin('policy.get', { agent_id }))).toMatchObject({ policy: { version: 2, text: DENY_WRITES } })
  const again = kept(await TestHost.open(gw, 'h2'))
  expect(await again.call('host.agent_get', await again.claim())).toMatchObject({
    policy: 'agent:2',
    policies: [{ layer: 'agent', version: 2 }],
  })
})

test('fault 9: what is wrong with a policy is said by rule and field; one whose examples fail does not become active', async () => {
  const { gw, agent_id } = await worldOf()
  expect(await errorOf(gw.admin('policy.set', { agent_id, text: '[[rule]]\nname = "x"\ndecision = "maybe"' }))).toMatchObject({
    code: 'invalid_argument',
    field: 'text',
    message: expect.stringContaining('decision'),
  })
  expect(await errorOf(gw.admin('policy.set', { agent_id, text: 'a b' }))).toMatchObject({
    code: 'invalid_argument',
    field: 'text',
  })
  const text = `${ASK_ALL}[[example]]\ncall = { tool = "x" }\ndecision = "allow"\n`
  const { version, review } = await contentOf(gw.admin('policy.set', { agent_id, text }))
  expect(review).toMatchObject({ examples: { failed: [{ example: 1, wanted: 'allow', decided: 'ask', rule: 'all' }] } })
  const { digest } = review as { digest: string }
  expect(await errorOf(gw.admin('policy.activate', { agent_id, version, digest }))).toMatchObject({
    code: 'conflict',
    field: 'version',
  })
  expect(await errorOf(gw.admin('policy.activate', { agent_id, version: 9, digest }))).toMatchObject({ code: 'not_found' })
})

test('fault 9: calls that were made are decided again: what would become looser is said first', async () => {
  const { gw, host, claim, agent_id, activate } = await worldOf()
  await activate({ agent_id }, DENY_WRITES)
  const line = (name: string, kind: string) =>
    JSON.stringify({
      at: new Date().toISOString(),
      id: 1,
      step: 'decided',
      by: 'tok_1 l',
      kind: 'tool',
      mount: 'files',
      name,
      arguments: {},
      decision: { kind },
    })
  await host.call('host.append_calls', {
    ...claim,
    offset: 0,
    lines: [line('write', 'deny'), line('read', 'allow'), '{"step":"returned"}'],
  })
  const { review } = await contentOf(gw.admin('policy.set', { agent_id, text: '[[rule]]\nname = "all"\ndecision = "allow"' }))
  expect(review).toMatchObject({
    replayed: {
      calls: 2,
      agents: 1,
      changed: 2,
      looser: 2,
      items: [
        { name: 'read', before: 'ask' },
        { name: 'write', before: 'deny_continue', after: 'allow', looser: true, agent: 'admin/mine' },
      ],
    },
  })
})

test('whose it is: an admin’s for all, a person’s own, and nobody’s who is not', async () => {
  const { gw, agent_id, person, activate } = await worldOf()
  const bob = await person('bob')
  await activate({ layer: 'installation' }, ASK_ALL)
  expect(await contentOf(bob('policy.get', { layer: 'installation' }))).toMatchObject({ policy: { version: 1 } })
  expect(await errorOf(bob('policy.set', { layer: 'installation', text: '' }))).toMatchObject({ code: 'forbidden' })
  for (const tool of ['policy.get', 'policy.history', 'policy.retire'])
    expect(await errorOf(bob(tool, { agent_id }))).toMatchObject({ code: 'not_found', field: 'agent_id' })
  expect(await errorOf(bob('policy.get', { username: 'admin' }))).toMatchObject({ code: 'not_found', field: 'username' })
  expect(await errorOf(bob('policy.get', { layer: 'agent' }))).toMatchObject({ code: 'invalid_argument', field: 'agent_id' })
  expect(await errorOf(bob('policy.get', { layer: 'owner', agent_id }))).toMatchObject({
    code: 'invalid_argument',
    field: 'agent_id',
  })
  expect(await contentOf(bob('policy.set', { text: ASK_ALL }))).toMatchObject({ layer: 'owner', version: 1 })
  expect(await contentOf(gw.admin('policy.history', { username: 'bob' }))).toMatchObject({ items: [{ created_by: 'bob' }] })
  expect(await errorOf(bob('policy.test', { agent_id, call: { tool: 'x', mount: 'm' } }))).toMatchObject({ code: 'not_found' })
})

test('a call is tried without being made: by all layers, or with a draft in the place of one', async () => {
  const { gw, agent_id, activate } = await worldOf()
  const call = { mount: 'files', tool: 'write', args: { path: '/a' } }
  expect(await contentOf(gw.admin('policy.test', { agent_id, call }))).toMatchObject({ decision: 'ask', rule: null, trace: [] })
  await activate({ layer: 'installation' }, ASK_ALL)
  expect(await contentOf(gw.admin('policy.test', { agent_id, call, text: DENY_WRITES }))).toMatchObject({
    decision: 'deny_continue',
    reason: 'no writing',
    rule: 'writes',
    layer: 'agent',
    trace: [
      { layer: 'installation', outcome: 'ask' },
      { layer: 'agent', outcome: 'deny_continue' },
    ],
  })
})

test('asked under policies that are not active any more, a host is told so; what was approved under them is not sent', async () => {
  const { gw, host, claim, agent_id, activate, ask } = await worldOf()
  await expect(ask({ policy: 'agent:7' })).rejects.toThrow('conflict')
  const { approval_id } = await ask()
  await contentOf(gw.admin('approval.decide', { approval_id, decision: 'approve' }))
  await activate({ agent_id }, DENY_WRITES)
  const step = { ...claim, approval_id, step: 'dispatch' }
  expect(await host.call('host.approval_step', step)).toEqual({ ok: false, status: 'withdrawn' })
})

test('approvers of a policy decide, and nobody else: two of them, each once', async () => {
  const { gw, ask, person } = await worldOf()
  const [ada, bob, carl] = [await person('ada'), await person('bob'), await person('carl')]
  const approvers = [{ users: ['ada', 'bob'], needed: 2 }]
  const { approval_id } = await ask({ approvers })
  const decide = { approval_id, decision: 'approve' }
  expect(await errorOf(gw.admin('approval.decide', decide))).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('ada, bob may'),
  })
  expect(await errorOf(carl('approval.decide', decide))).toMatchObject({ code: 'not_found' })
  expect(await contentOf(ada('approval.list', {}))).toMatchObject({
    items: [{ approval_id, may_decide: true, needed: 2, votes: [] }],
  })
  expect(await contentOf(gw.admin('approval.list', {}))).toMatchObject({ items: [{ approval_id, may_decide: false }] })
  expect(await contentOf(carl('approval.list', {}))).toMatchObject({ items: [] })
  for (const decision of ['approve_session', 'approve_rule'])
    expect(await errorOf(ada('approval.decide', { approval_id, decision }))).toMatchObject({ code: 'invalid_argument' })
  expect(await contentOf(ada('approval.decide', decide))).toMatchObject({ status: 'pending', votes: ['ada'] })
  expect(await contentOf(ada('approval.decide', decide))).toMatchObject({ status: 'pending', votes: ['ada'] })
  expect(await contentOf(bob('approval.decide', decide))).toMatchObject({ status: 'approved', votes: ['ada', 'bob'] })
  const { approval_id: signed } = await ask({ arguments_json: '{"b":1}', approvers: [{ users: ['ada'], sign_in: true }] })
  expect(await errorOf(ada('approval.decide', { approval_id: signed, decision: 'approve' }))).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('sign in'),
  })
})

test('a sign-in decides as the person, a token by its name; a policy may refuse the second, whatever its scopes', async () => {
  const { gw, ask } = await worldOf()
  const decided = async (approval_id: unknown) => (await contentOf(gw.admin('approval.get', { approval_id })))['decided']
  const approve = (approval_id: unknown) => ({ approval_id, decision: 'approve' })
  const whole = await mint(gw, { role: 'user', username: 'admin' })
  const narrow = await mint(gw, { role: 'user', username: 'admin', scopes: ['approvals', 'admin'] })
  const person = { approvers: [{ users: ['admin'], sign_in: true }], arguments_json: '{"b":1}' }
  const { approval_id: signed } = await ask(person)
  for (const { token } of [whole, narrow])
    expect(await errorOf(callTool(gw.gateway.url, token, 'approval.decide', approve(signed)))).toMatchObject({
      code: 'forbidden',
      message: 'a person must decide this: sign in, and not by a token',
    })
  await contentOf(gw.admin('approval.decide', approve(signed)))
  expect(await decided(signed)).toMatchObject({ by: 'admin' })
  const { approval_id } = await ask()
  await contentOf(callTool(gw.gateway.url, narrow.token, 'approval.decide', approve(approval_id)))
  expect(await decided(approval_id)).toMatchObject({ by: `admin (token ${narrow.id})` })
})

test('what is forked is held by the policy of the agent that it comes from, and by its own from then on', async () => {
  const { gw, activate } = await worldOf()
  const { agent_id } = await contentOf(gw.admin('agent.create', { name: 'local', kind: 'local', model: 'm' }))
  await activate({ agent_id }, DENY_WRITES)
  const forked = (await contentOf(gw.admin('agent.fork', { agent_id })))['agent_id']
  const decided = async (id: unknown) =>
    (await contentOf(gw.admin('policy.test', { agent_id: id, call: { mount: 'files', tool: 'write' } })))['decision']
  expect(await decided(forked)).toBe('deny_continue')
  expect(await contentOf(gw.admin('policy.history', { agent_id: forked }))).toMatchObject({
    items: [{ version: 1, status: 'active', agent_id: forked, activated_by: 'admin' }],
  })
  await contentOf(gw.admin('policy.retire', { agent_id }))
  expect([await decided(agent_id), await decided(forked)]).toEqual(['ask', 'deny_continue'])
})

test('yes for the session is an allowance of that client and that tool; it can be ended', async () => {
  const { gw, agent_id, ask, spec } = await worldOf()
  const { approval_id } = await ask()
  await contentOf(gw.admin('approval.decide', { approval_id, decision: 'approve_session', minutes: 60 }))
  const { allowances } = await spec()
  expect(allowances).toMatchObject([{ session: 'tok_1', mount: 'files', name: 'write', digest: null, answers: ['default'] }])
  const [{ id } = { id: '' }] = allowances as { id: string }[]
  const tried = (more: object = {}) =>
    contentOf(gw.admin('policy.test', { agent_id, call: { mount: 'files', tool: 'write', ...more } }))
  // It is for the mount as it was when somebody said yes.
  expect(await tried({ caller: 'agent:tok_1' })).toMatchObject({ decision: 'ask', allowances: [] })
  const engine = await ask({
    kind: 'command',
    mount: null,
    mount_version: null,
    name: 'ls',
    caller: 'tok_2',
    arguments_json: '{}',
  })
  await contentOf(gw.admin('approval.decide', { approval_id: engine['approval_id'], decision: 'approve_session' }))
  const command = (caller?: string) =>
    contentOf(
      gw.admin('policy.test', { agent_id, call: { command: 'ls', args: {}, ...(caller === undefined ? {} : { caller }) } }),
    )
  expect(await command('agent:tok_2')).toMatchObject({ decision: 'allow', allowances: [expect.any(String)] })
  expect(await command()).toMatchObject({
    decision: 'ask',
    reason: expect.stringContaining('the client tok_2 is let through by an allowance'),
  })
  const second = ((await spec()).allowances as { id: string; name: string }[]).find(({ name }) => name === 'ls')?.id
  await contentOf(gw.admin('policy.disallow', { agent_id, allowance_id: second }))
  expect(await contentOf(gw.admin('policy.disallow', { agent_id, allowance_id: id }))).toEqual({ disallowed: true })
  expect(await spec()).toMatchObject({ allowances: [] })
  const git = await ask({ kind: 'command', mount: null, mount_version: null, name: 'git', caller: 'engine' })
  await contentOf(gw.admin('approval.decide', { approval_id: git['approval_id'], decision: 'approve_session' }))
  expect(await spec()).toMatchObject({ allowances: [{ kind: 'command', digest: expect.stringMatching(/^[0-9a-f]{64}$/) }] })
})

test('yes as a rule goes before the rule that asked, in the policy that asked, with the call as its example', async () => {
  const { gw, agent_id, activate, ask, person } = await worldOf()
  await activate({ layer: 'installation' }, `# ours\n${ASK_ALL}`)
  const { approval_id } = await ask({ rule: 'all', layer: 'installation', askers: ['installation'] })
  expect(await contentOf(gw.admin('approval.decide', { approval_id, decision: 'approve_rule' }))).toMatchObject({
    status: 'approved',
    decided: { decision: 'approve_rule' },
  })
  const { policy } = await contentOf(gw.admin('policy.get', { layer: 'installation' }))
  expect(policy).toMatchObject({
    version: 2,
    status: 'active',
    text: expect.stringMatching(/^# ours\n\[\[rule\]\]\nname = "allow-/),
  })
  const tried = (path: string) =>
    contentOf(gw.admin('policy.test', { agent_id, call: { mount: 'files', tool: 'write', args: { path } } }))
  expect([await tried('a'), await tried('b')]).toMatchObject([{ decision: 'allow' }, { decision: 'ask' }])
  // One of their own words must allow this call, and this is not theirs to write.
  const next = await ask({
    arguments_json: '{"path":"c"}',
    rule: 'all',
    layer: 'installation',
    askers: ['installation'],
    approvers: [{ users: ['bob'] }],
  })
  const bob = await person('bob')
  expect(await errorOf(bob('approval.decide', { approval_id: next['approval_id'], decision: 'approve_rule' }))).toMatchObject({
    code: 'forbidden',
  })
  const own = await ask({ arguments_json: '{"path":"d"}' })
  const rule = { name: 'reads', tool: 'read', decision: 'allow' }
  expect(
    await errorOf(gw.admin('approval.decide', { approval_id: own['approval_id'], decision: 'approve_rule', rule })),
  ).toMatchObject({ code: 'invalid_argument', field: 'rule' })
  await activate(
    { agent_id },
    DENY_WRITES.replace('tool = "write"', 'tool = "erase"').replace('tool = "write"', 'tool = "erase"'),
  )
  const other = await ask({ arguments_json: '{"path":"e"}' })
  const taken = {
    approval_id: other['approval_id'],
    decision: 'approve_rule',
    rule: { name: 'writes', tool: 'write', decision: 'allow' },
  }
  expect(await errorOf(gw.admin('approval.decide', taken))).toMatchObject({
    field: 'rule',
    message: expect.stringContaining('already'),
  })
  const fits = { name: 'all-writes', mount: 'files', tool: 'write', decision: 'allow' }
  // What was asked under the policies before is over: a yes to it does nothing, now or from now on.
  for (const decision of ['approve', 'approve_session', 'approve_rule']) {
    const stale = await ask({ arguments_json: '{"path":"f"}' })
    await activate({ agent_id }, `# ${decision}\n${DENY_WRITES.replaceAll('tool = "write"', 'tool = "erase"')}`)
    const error = await errorOf(gw.admin('approval.decide', { approval_id: stale['approval_id'], decision }))
    expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('other policies are active') })
    expect(await contentOf(gw.admin('approval.get', { approval_id: stale['approval_id'] }))).toMatchObject({
      status: 'withdrawn',
    })
  }
  expect(await contentOf(gw.admin('policy.get', { agent_id }))).toMatchObject({ allowances: [] })
  const fresh = await ask({ arguments_json: '{"path":"d"}' })
  const written = { approval_id: fresh['approval_id'], decision: 'approve_rule', rule: fits }
  expect(await contentOf(gw.admin('approval.decide', written))).toMatchObject({ status: 'approved' })
  expect(await contentOf(gw.admin('policy.get', { agent_id }))).toMatchObject({
    policy: { text: expect.stringContaining('all-writes') },
  })
})

test('arguments can be changed where that can be sent; the host is told', async () => {
  const { gw, host, claim, ask } = await worldOf()
  const { approval_id } = await ask()
  const decide = (more: object) => gw.admin('approval.decide', { approval_id, decision: 'approve', ...more })
  expect(await errorOf(decide({ arguments_json: '[1]' }))).toMatchObject({ field: 'arguments_json' })
  expect(await errorOf(decide({ decision: 'deny_continue', arguments_json: '{}' }))).toMatchObject({ field: 'arguments_json' })
  expect(await contentOf(decide({ arguments_json: '{"path":"b"}' }))).toMatchObject({
    status: 'approved',
    edited_preview: expect.stringContaining('"b"'),
  })
  expect(await host.call('host.approvals', { ...claim, approval_ids: [approval_id] })).toMatchObject({
    items: [{ edited_json: '{"path":"b"}' }],
  })
  const edit = (asked: Record<string, unknown>, args: object) =>
    gw.admin('approval.decide', {
      approval_id: asked['approval_id'],
      decision: 'approve',
      arguments_json: JSON.stringify(args),
    })
  const command = await ask({ kind: 'command', mount: null, mount_version: null, name: 'git' })
  expect(await errorOf(edit(command, { command: ['ls'], argv: ['ls'] }))).toMatchObject({
    field: 'arguments_json',
    message: expect.stringContaining('argv follows from command'),
  })
  expect(await contentOf(edit(command, { command: ['git', 'log'] }))).toMatchObject({ status: 'approved' })
  const resource = await ask({ kind: 'resource', name: 'file:///a' })
  expect(await errorOf(edit(resource, {}))).toMatchObject({ field: 'arguments_json' })
})

test('an agent proposes another policy, and a person’s yes makes it active', async () => {
  const { gw, host, claim, agent_id, spec } = await worldOf()
  await expect(host.call('host.propose', { ...claim, text: 'a b', note: '' })).rejects.toThrow('invalid_argument')
  const { approval_id } = await host.call('host.propose', { ...claim, text: DENY_WRITES, note: 'less of it' })
  expect(await contentOf(gw.admin('approval.get', { approval_id }))).toMatchObject({
    kind: 'proposal',
    reason: 'less of it',
    preview: [
      'Note: less of it',
      'Of the last 0 calls 0 would be decided otherwise, 0 of them looser.',
      'The agent has no policy of its own now.',
      '+ rule writes: deny_continue',
      '',
      `The whole text, ${DENY_WRITES.length} characters:`,
      '',
      DENY_WRITES,
    ].join('\n'),
    masked: false,
    cut: false,
  })
  expect(await contentOf(gw.admin('policy.list_proposals', { agent_id }))).toMatchObject({
    items: [{ version: 1, status: 'proposed' }],
  })
  expect(await errorOf(gw.admin('approval.decide', { approval_id, decision: 'approve_session' }))).toMatchObject({
    code: 'invalid_argument',
  })
  expect(await contentOf(gw.admin('approval.decide', { approval_id, decision: 'approve' }))).toMatchObject({ status: 'returned' })
  expect(await spec()).toMatchObject({ policy: 'agent:1' })
  const mine = await contentOf(gw.admin('policy.propose', { agent_id, text: ASK_ALL }))
  await contentOf(gw.admin('approval.decide', { approval_id: mine['approval_id'], decision: 'deny_continue' }))
  expect(await contentOf(gw.admin('policy.list_proposals', { agent_id }))).toMatchObject({
    items: [{ version: 2, status: 'refused' }],
  })
})

test('a proposed policy is shown whole, whatever it looks like, and the hash is of all of it', async () => {
  const { gw, host, claim, agent_id, activate } = await worldOf()
  await activate({ agent_id }, `deny_unknown = true\n${DENY_WRITES}${ASK_ALL}`)
  const padding = `# ${'x'.repeat(70)}\n`.repeat(800)
  const hidden = '# -----BEGIN PRIVATE KEY-----\n[[rule]]\nname = "everything"\ndecision = "allow"\n# -----END PRIVATE KEY-----\n'
  const text = `# token=hunter2 \u202e\n${ASK_ALL.replace('ask', 'allow')}${padding}${hidden}${padding}`
  const { approval_id } = await host.call('host.propose', { ...claim, text, note: 'a\nb' })
  const [listed] = (await contentOf(gw.admin('approval.list')))['items'] as Answer[]
  const shown = await contentOf(gw.admin('approval.get', { approval_id }))
  expect(shown).toMatchObject({ masked: false, cut: false, preview: listed?.['preview'] })
  const preview = String(shown['preview'])
  expect(preview.endsWith(`:\n\n${text.replace('\u202e', '⟦U+202E⟧')}`)).toBe(true)
  expect(preview.split('\n\n', 1)).toEqual([
    [
      'Note: a⟦U+000A⟧b',
      'Of the last 0 calls 0 would be decided otherwise, 0 of them looser.',
      '2 rules now, 2 then.',
      '+ rule everything: allow',
      '- rule writes: deny_continue',
      '~ rule all: decision: ask → allow',
      '~ deny_unknown: false',
    ].join('\n'),
  ])
  expect(shown['preview_sha256']).toBe(createHash('sha256').update(preview).digest('hex'))
  const said = { approval_id, decision: 'approve', preview_sha256: shown['preview_sha256'] }
  expect(await contentOf(gw.admin('approval.decide', said))).toMatchObject({ status: 'returned' })
  const unseen = `${ASK_ALL}# ${'\u00ad'.repeat(60_000)}\n`
  await expect(host.call('host.propose', { ...claim, text: unseen, note: '' })).rejects.toThrow('invalid_argument')
})

test('a page of approvals ends where what is shown in it becomes too much, and the next goes on', async () => {
  const { gw, host, claim } = await worldOf()
  const text = `# ${'x'.repeat(127_000)}\n${ASK_ALL}`
  const asked: unknown[] = []
  for (let at = 0; at < 35; at += 1) asked.push((await host.call('host.propose', { ...claim, text, note: '' }))['approval_id'])
  const first = await contentOf(gw.admin('approval.list', { limit: 200 }))
  const second = await contentOf(gw.admin('approval.list', { limit: 200, cursor: first['next_cursor'] }))
  const ids = [first, second].map((page) => (page['items'] as Answer[]).map((item) => item['approval_id']))
  expect(ids.map(({ length }) => length)).toEqual([32, 3])
  expect(ids.flat()).toEqual(asked.toReversed())
  expect(second['next_cursor']).toBeNull()
})
