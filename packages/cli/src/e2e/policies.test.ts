import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApprovalId, type ToolInput, isJsonObject, messageOf, parseJson } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { AgentBench, ON_HOST, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MAKER } from '../fixture/maker-server.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const rule = (name: string, decision: string, more = ''): string =>
  `[[rule]]\nname = "${name}"\nmount = "files"\ntool = "make"\ndecision = "${decision}"\n${more}\n`
const named = (name: string): string => `when = 'args.name == "${name}"'`

/** A real gateway, a host that is a process, and an agent with a server that leaves a trace of each call that reaches it. */
async function worldOf() {
  const bench = await AgentBench.open({ gate: 'ask' })
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const made = mkdtempSync(join(tmpdir(), 'parley-made-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  const host = await bench.host('one')
  const server = stdio({ ...ON_HOST, args: ['--input-type=module', '-e', MAKER, made] })
  const agent_id = await bench.agent('mine', { files: server })
  const client = await bench.as(agent_id)
  await expect.poll(() => toolsOf(client, 'files'), { timeout: 60_000 }).toEqual(['files_make'])
  const names = (): string[] =>
    readdirSync(made)
      .map((name) => name.replace(/-.*/, ''))
      .toSorted()
  const activate = async (whose: Whose, text: string): Promise<void> => {
    const { version, review } = await bench.gateway.call('policy.set', { ...whose, text })
    await bench.gateway.call('policy.activate', { ...whose, version, digest: review.digest })
  }
  const waiting = async (name: string): Promise<ApprovalId> => {
    const found = async () =>
      (await bench.gateway.call('approval.list', {})).items.find(({ preview }) => preview.includes(`"${name}"`))?.approval_id
    await expect.poll(found).toBeDefined()
    return ApprovalId.parse(await found())
  }
  /** A call that a person is asked about, made again until the host has heard that it is to be. */
  const heldCall = async (by: Client, name: string): Promise<{ id: ApprovalId; answer: Promise<unknown> }> => {
    for (;;) {
      const answer = make(by, name)
      const asked = waiting(name).catch(() => undefined)
      const id = await Promise.race([asked, answer.then(() => undefined)])
      if (id !== undefined) return { id, answer }
    }
  }
  const decide = (approval_id: ApprovalId, decision: Decision, more: object = {}) =>
    bench.gateway.call('approval.decide', { approval_id, decision, ...more })
  return { bench, host, agent_id, client, names, activate, waiting, heldCall, decide }
}
type Whose = Pick<ToolInput<'policy.set'>, 'layer' | 'agent_id'>
type Decision = ToolInput<'approval.decide'>['decision']

/** What a call answers, or the code and the words of the error. */
const make = (client: Client, name: string): Promise<unknown> =>
  client.callToolRaw('files_make', { name }).then(
    (result) => JSON.stringify(result['content']),
    (error: unknown) => ({ code: Object(error).code, message: messageOf(error) }),
  )
/** Hosts hear of a change a moment later. */
const hostHears = async (client: Client, name: string, code: number): Promise<void> => {
  await expect.poll(async () => Object(await make(client, name)).code).toBe(code)
}

test(
  'three layers decide: what is denied above is not sent whatever is said below, and every denial has its code',
  MANY_PROCESSES,
  async () => {
    const { bench, agent_id, client, names, activate, heldCall, decide } = await worldOf()
    await activate(
      { layer: 'installation' },
      rule('never', 'deny_abort', `${named('never')}\nreason = "not here"`) + rule('rest', 'ask', 'delegate = true'),
    )
    await activate(
      { agent_id },
      rule('bad', 'deny_continue', `${named('bad')}\nreason = "use another name"`) +
        rule('odd', 'allow', `when = 'args.missing == "x"'`).replace('"make"', '"odd"') +
        rule('all', 'allow'),
    )
    await hostHears(client, 'bad', -32_951)
    expect(await make(client, 'yes')).toContain('made')
    expect(await make(client, 'never')).toMatchObject({ code: -32_950, message: expect.stringContaining('not here') })
    expect(await make(client, 'bad')).toMatchObject({ code: -32_951, message: expect.stringContaining('use another name') })
    await activate({ agent_id }, rule('odd', 'allow', `when = 'args.missing == "x"'`))
    // One that is denied either way, so that none is made in between.
    await hostHears(client, 'bad', -32_953)
    expect(names()).toEqual(['yes'])
    // Nothing that a person says lets through what is denied above.
    await activate({ agent_id }, rule('all', 'ask'))
    const { id, answer } = await heldCall(client, 'draft')
    await decide(id, 'approve', { arguments_json: '{"name":"never"}' })
    expect(await answer).toMatchObject({ code: -32_951, message: expect.stringContaining('not here') })
    expect(names()).toEqual(['yes'])
    const { lines } = await bench.gateway.call('agent.read_log', { agent_id, log: 'calls' })
    const decided = lines.map(({ line }) => parseJson(line)).filter((entry) => isJsonObject(entry) && entry['step'] === 'decided')
    expect(decided).toContainEqual(
      expect.objectContaining({
        decision: expect.objectContaining({ kind: 'deny', by: { layer: 'installation', rule: 'never' } }),
      }),
    )
  },
)

test('a person sends other arguments, allows for the session, and makes a rule', MANY_PROCESSES, async () => {
  const { agent_id, bench, client, names, activate, waiting, decide } = await worldOf()
  const first = make(client, 'draft')
  await decide(await waiting('draft'), 'approve', { arguments_json: '{"name":"final"}' })
  expect(await first).toMatch(/A person changed the arguments.*final.*made/)
  expect(names()).toEqual(['final'])
  const spoken = make(client, 'spoken')
  await decide(await waiting('spoken'), 'approve', { reason: 'only this once' })
  expect(await spoken).toMatch(/The person who approved this call says: .*only this once.*made/)
  const ruled = make(client, 'ruled')
  await decide(await waiting('ruled'), 'approve_rule')
  await ruled
  await expect.poll(() => make(client, 'ruled')).toContain('made')
  const session = make(client, 'session')
  await decide(await waiting('session'), 'approve_session', { minutes: 5 })
  await session
  await expect.poll(() => make(client, 'other')).toContain('made')
  // Another token of the same agent is another session.
  const other = await bench.as(agent_id)
  const asked = make(other, 'theirs')
  await decide(await waiting('theirs'), 'deny_continue', { reason: 'not you' })
  expect(await asked).toMatchObject({ code: -32_951, message: expect.stringContaining('not you') })
  await activate({ agent_id }, rule('none', 'deny_continue'))
  await hostHears(client, 'other', -32_951)
  expect(names().filter((name) => name === 'theirs')).toEqual([])
})

test('a policy that changes while a call waits asks again under the new one', MANY_PROCESSES, async () => {
  const { bench, agent_id, client, names, activate, waiting } = await worldOf()
  const asked = make(client, 'waits')
  const id = await waiting('waits')
  await activate({ agent_id }, rule('none', 'deny_continue', 'reason = "changed"'))
  expect(await asked).toMatchObject({ code: -32_951, message: expect.stringContaining('changed') })
  expect(await bench.gateway.call('approval.get', { approval_id: id })).toMatchObject({ status: 'withdrawn' })
  expect(names()).toEqual([])
})

test(
  'calls are counted, also those that another host let through; a policy in shadow only says what it would do',
  MANY_PROCESSES,
  async () => {
    const { bench, host, agent_id, client, names, activate } = await worldOf()
    await activate(
      { agent_id },
      rule('some', 'allow', 'counts = { hour = 2 }') + rule('enough', 'deny_continue', 'reason = "enough"'),
    )
    await activate({ layer: 'owner' }, `shadow = true\n${rule('shadowed', 'deny_abort')}`)
    await expect.poll(() => make(client, 'one')).toContain('made')
    expect(await make(client, 'two')).toContain('made')
    expect(await make(client, 'three')).toMatchObject({ code: -32_951, message: expect.stringContaining('enough') })
    const shadows = async () =>
      (await bench.gateway.call('agent.read_log', { agent_id, log: 'calls' })).lines.filter(({ line }) =>
        line.includes('"shadow":{"decision":"deny_abort"'),
      ).length
    await expect.poll(shadows).toBeGreaterThan(0)
    host.kill('SIGTERM')
    await bench.host('two')
    const again = await bench.as(agent_id)
    await expect
      .poll(() => make(again, 'four'), { timeout: 90_000 })
      .toMatchObject({ code: -32_951, message: expect.stringContaining('enough') })
    expect(names()).toEqual(['one', 'two'])
  },
)

test(
  'an agent looks at its policy, tries a call, proposes another and takes it back; a person’s yes is what counts',
  MANY_PROCESSES,
  async () => {
    const { bench, agent_id, client, names, decide } = await worldOf()
    const own = async (name: string, args: object = {}): Promise<Record<string, unknown>> => {
      const result = await client.callToolRaw(name, { ...args })
      return result.isError === true ? { failed: JSON.stringify(result.content) } : Object(result.structuredContent)
    }
    const tried = { mount: 'files', tool: 'make', args: { name: 'x' } }
    expect(await own('policy_get')).toEqual({ policy: null, active: '', proposals: [] })
    expect(await own('policy_check', tried)).toMatchObject({ decision: 'ask', rule: null, layer: null })
    expect(await own('policy_check', { mount: 'files' })).toEqual({ failed: expect.stringContaining('invalid_argument: tool:') })
    expect(await own('policy_propose', { text: 'a b' })).toEqual({ failed: expect.stringContaining('invalid_argument: text:') })

    const first = await own('policy_propose', { text: rule('all', 'allow'), note: 'asks too much' })
    expect(await own('policy_get')).toMatchObject({
      proposals: [{ approval_id: first.approval_id, version: 1, note: 'asks too much' }],
    })
    expect(await own('policy_withdraw', { approval_id: first.approval_id })).toEqual({ withdrawn: true })
    expect(await own('policy_withdraw', { approval_id: first.approval_id })).toEqual({ withdrawn: false })
    await expect(decide(ApprovalId.parse(first.approval_id), 'approve')).rejects.toThrow('too late')

    // What is asked about a call is not the agent's to take back by this.
    const held = make(client, 'held')
    const pending = async () => (await bench.gateway.call('approval.list', {})).items[0]?.approval_id
    await expect.poll(pending).toBeDefined()
    const asked = ApprovalId.parse(await pending())
    expect(await own('policy_withdraw', { approval_id: asked })).toEqual({ failed: expect.stringContaining('not_found') })
    await decide(asked, 'deny_continue')
    expect(await held).toMatchObject({ code: -32_951 })

    const second = await own('policy_propose', { text: rule('all', 'allow') })
    await decide(ApprovalId.parse(second.approval_id), 'approve')
    await expect.poll(() => own('policy_check', tried)).toMatchObject({ decision: 'allow', rule: 'all', layer: 'agent' })
    expect(await own('policy_get')).toMatchObject({ policy: { version: 2, text: rule('all', 'allow') }, active: 'agent:2' })
    expect(names()).toEqual([])
    const read = (what: string) => bench.gateway.read(`resource://agents/${agent_id}/${what}`)
    expect(await read('policy')).toMatchObject({ active: 'agent:2', policies: [{ layer: 'agent', version: 2 }], allowances: [] })
    expect(await read('proposals')).toMatchObject({ items: [{ version: 1, status: 'withdrawn' }] })
  },
)
