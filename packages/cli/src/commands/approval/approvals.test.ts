import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { AgentId } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AskingHost } from '../../fixture/asking-host.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway
let host: AskingHost

/** Calls that differ, so that none is taken for one that was asked about before. */
let asked = 0
const ask = (question: Parameters<AskingHost['ask']>[0] = {}) =>
  host.ask({ arguments_json: JSON.stringify({ path: `file-${(asked += 1)}` }), ...question })

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data, { gate: 'ask' })
  const { agent_id }: { agent_id: AgentId } = await json(['agent', 'create', 'mine', ...at])
  host = await AskingHost.open(gateway, agent_id)
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test('yes for a session is an allowance, which the policy shows and which can be ended', async () => {
  const approved = await run(['approvals', 'approve', await ask(), '--session', '--minutes', '5', ...at])
  expect(approved).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^tool files write of mine is approved, and so are more of its kind until [-\d]+ [:\d]+; parley policy disallow ALLOWANCE --agent agt_\w+ ends it/,
    ),
  })
  const { out } = await run(['policy', 'show', '--agent', 'mine', ...at])
  const [, id = ''] = /^# (alw_\w+): tool files write, of tok_1, until /m.exec(out) ?? []
  const disallow = ['policy', 'disallow', id.slice(0, 12), '--agent', 'mine', ...at]
  expect(await run(disallow)).toMatchObject({ code: 0, out: `${id} has ended.\n` })
  expect(await run(disallow)).toMatchObject({ code: 1, err: expect.stringContaining('there is no allowance') })
})

test('yes as a rule is written into the policy of the agent', async () => {
  const approved = await run(['approvals', 'approve', await ask({ name: 'rename' }), '--rule', ...at])
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining('a rule lets it through from now on') })
  expect((await run(['policy', 'show', '--agent', 'mine', ...at])).out).toMatch(/^\[\[rule\]\]\nname = "allow-[^]*rename/)
  await run(['policy', 'retire', '--agent', 'mine', ...at])
})

test('a rule of somebody’s own is written instead, from a file with just one', async () => {
  const rule = (more: string): void =>
    writeFileSync(join(scratch.folder, 'rule.toml'), `[[rule]]\nname = "moves"\ntool = "move-*"\ndecision = "allow"\n${more}`)
  const id = await ask({ name: 'move-up' })
  const approve = () => run(['approvals', 'approve', id, '--rule-file', 'rule.toml', ...at])
  for (const [more, words] of [
    ['[[rule]]\nname = "b"\ndecision = "ask"\n', /must have one \[\[rule\]\], and has 2/],
    ['tol = "x"\n', /^parley: --rule-file rule\.toml: .*there is no such field/],
    ['mount = "other"\n', /^parley: --rule-file: with it this call would be decided by /],
  ] as const) {
    rule(more)
    expect(await approve()).toMatchObject({ code: 2, err: expect.stringMatching(words) })
  }
  rule('')
  expect(await approve()).toMatchObject({ code: 0, out: expect.stringContaining('a rule lets it through from now on') })
  expect((await run(['policy', 'show', '--agent', 'mine', ...at])).out).toContain('tool = "move-*"')
  await run(['policy', 'retire', '--agent', 'mine', ...at])
})

test('what was decided is found again by a text in it, and by when it was asked', async () => {
  const id = await ask({ name: 'shred' })
  expect((await run(['approvals', 'list', '--search', 'SHRED', ...at])).out).toContain(id)
  await run(['approvals', 'deny', id, '--reason', 'never on a Friday', ...at])
  expect((await run(['approvals', 'list', ...at])).out).not.toContain(id)
  const { items } = await json(['approvals', 'list', '--search', 'friday', '--since', '1h', ...at])
  expect(items).toMatchObject([{ approval_id: id, status: 'denied', decided: { reason: 'never on a Friday' } }])
  expect(await run(['approvals', 'list', '--search', 'friday', '--until', '1h', ...at])).toMatchObject({
    code: 0,
    err: 'nothing of the kind was asked\n',
  })
  expect(await run(['approvals', 'list', '--search', '', ...at])).toMatchObject({ code: 2 })
  expect(await run(['approvals', 'list', '--since', 'yesterdy', ...at])).toMatchObject({ code: 2 })
})

test('the newest that waits is shown and denied as @last, and let through only by its id; a list is as long as is asked for', async () => {
  const older = await ask({ name: 'older' })
  const newest = await ask({ name: 'newest' })
  const { items } = await json(['approvals', 'list', '--limit', '1', ...at])
  expect(items).toMatchObject([{ approval_id: newest }])
  expect((await run(['approvals', 'show', '@last', ...at])).out).toContain('tool files newest')
  expect(await run(['approvals', 'approve', '@last', ...at])).toMatchObject({
    code: 2,
    err: expect.stringContaining('needs an id'),
  })
  expect(await json(['approvals', 'deny', '@last', ...at])).toMatchObject({ approval_id: newest, status: 'denied' })
  expect(await json(['approvals', 'deny', '@last', ...at])).toMatchObject({ approval_id: older })
  for (const { approval_id } of (await json(['approvals', 'list', ...at])).items)
    await run(['approvals', 'deny', approval_id, ...at])
  expect(await run(['approvals', 'deny', '@last', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('@last: nothing waits for you'),
  })
})

test('calls of the same tool are told apart in the list, which says when they end and who decided; the same answer again says so', async () => {
  const long = await ask({ name: 'tell', arguments_json: JSON.stringify({ path: 'p'.repeat(80) }) })
  const listed = await run(['approvals', 'list', '--search', 'tell', ...at])
  expect(listed.out).toMatch(
    new RegExp(`^${long} +mine +tool files tell +\\{ "path": "p+… +pending +[-\\d]+ [:\\d]+ +[-\\d]+ [:\\d]+`, 'm'),
  )
  expect((await run(['approvals', 'show', long, ...at])).out).toMatch(/^ends +[-\d]+ [:\d]+, unless somebody decides$/m)
  await run(['approvals', 'approve', long, ...at])
  expect((await run(['approvals', 'list', '--search', 'tell', ...at])).out).toMatch(/ approved .* approve by admin/)
  expect((await run(['approvals', 'approve', long, ...at])).out).toMatch(
    /^tool files tell of mine was approved already, by admin/,
  )
})

test('what is hidden is said, and shown with --whole', async () => {
  const id = await ask({ name: 'log\u200bin', arguments_json: '{"password":"hunter2"}' })
  const { out } = await run(['approvals', 'show', id, ...at])
  expect(out).toContain('tool files log⟦U+200B⟧in')
  expect(out).not.toContain('hunter2')
  expect(out).toContain(`Part of it is hidden; the whole: parley approvals show ${id} --whole`)
  expect(await run(['approvals', 'show', id, '--whole', ...at])).toMatchObject({ code: 0, out: '{"password":"hunter2"}\n' })
  expect((await run(['approvals', 'list', ...at])).out).toContain('tool files log⟦U+200B⟧in')
  await run(['approvals', 'deny', id, ...at])
})

test('a call is sent with other arguments, from the line or from a file', async () => {
  const first = await json(['approvals', 'approve', await ask(), '--arguments', '{"path":"b"}', ...at])
  expect(first).toMatchObject({ status: 'approved', edited_preview: expect.stringContaining('"b"') })
  writeFileSync(join(scratch.folder, 'other.json'), '{"path":"c"}\n')
  const id = await ask()
  expect((await run(['approvals', 'approve', id, '--arguments', '@other.json', ...at])).out).toContain('with other arguments')
  expect((await run(['approvals', 'show', id, ...at])).out).toMatch(/sent instead:\n[^]*"c"/)
  const resource = await ask({ kind: 'resource', name: 'file:///a' })
  expect(await run(['approvals', 'approve', resource, '--arguments', '{}', ...at])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^parley: --arguments: /),
  })
  await run(['approvals', 'deny', resource, ...at])
})

test(
  'an agent whose approved call may have been made is deleted by who says so, in words or at a terminal',
  MANY_PROCESSES,
  async () => {
    await using other = new Scratch()
    await using there = await LocalGateway.open(other.data, { gate: 'ask' })
    const sentBy = async (name: string): Promise<void> => {
      const { agent_id } = await there.call('agent.create', { name })
      await using asks = await AskingHost.open(there, agent_id, name)
      const approval_id = await asks.ask()
      await there.call('approval.decide', { approval_id, decision: 'approve' })
      await asks.dispatch(approval_id)
    }
    await sentBy('mine')
    await sentBy('yours')
    const remove = (...more: string[]) => run(['agent', 'delete', 'mine', ...more, '--data', other.data])
    expect(await remove()).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^parley: --forget-unknown: agent mine has calls that were approved and may have been made: apr_\w+ /,
      ),
    })
    expect(await remove('--forget-unknown')).toMatchObject({ code: 0, out: expect.stringContaining('is deleted.') })
    if (!hasTerminals()) return
    const at = (typed: string) =>
      onTerminal(other, ['agent', 'delete', 'yours', '--data', other.data], {
        columns: 200,
        rows: 40,
        answers: [{ to: '[y/N]', typed }],
      })
    expect(await at('n\r')).toMatchObject({ code: 130 })
    expect(await at('y\r')).toMatchObject({ code: 0, out: expect.stringContaining('is deleted.') })
  },
)

test('it is shown by which rule somebody is asked, who has said yes, and who may', async () => {
  await gateway.call('user.add', { username: 'ada' })
  const { token } = await gateway.call('token.create', { role: 'user', username: 'ada' })
  const id = await ask({ rule: 'writes', layer: 'owner', askers: ['owner'], approvers: [{ users: ['ada', 'bob'], needed: 2 }] })
  const shown = await run(['approvals', 'show', id, ...at])
  expect(shown.out).toMatch(/^rule +writes, of the policy of the owner\nsaid yes +0 of 2$/m)
  expect(shown.out).toMatch(/^you +may not decide$/m)
  const ada = { env: { PARLEY_TOKEN: token } }
  const voted = await run(['approvals', 'approve', id, '--url', gateway.url], ada)
  expect(voted).toMatchObject({ code: 0, out: 'tool files write of mine waits for more: 1 of 2 have said yes.\n' })
  expect((await run(['approvals', 'show', id, '--url', gateway.url], ada)).out).toMatch(/^said yes +1 of 2: ada$/m)
  expect(await run(['approvals', 'approve', id, '--session', '--url', gateway.url], ada)).toMatchObject({ code: 1 })
})

test(
  'watching without a terminal tells each once, also after the gateway started again, and decides nothing',
  MANY_PROCESSES,
  async () => {
    await using other = new Scratch()
    await using there = await LocalGateway.open(other.data, { gate: 'ask' })
    const { agent_id } = await there.call('agent.create', { name: 'mine' })
    const first = await AskingHost.open(there, agent_id, 'one')
    const one = await first.ask()
    const watching = other.begin(['approvals', 'watch', '--json', '--data', other.data])
    const plain = other.begin(['approvals', 'watch', '--data', other.data])
    const lines: string[] = []
    const plainLines: string[] = []
    createInterface({ input: watching.stdout ?? process.stdin }).on('line', (line) => lines.push(JSON.parse(line).approval_id))
    createInterface({ input: plain.stdout ?? process.stdin }).on('line', (line) => plainLines.push(line))
    plain.stdin?.write('a\n')
    await expect.poll(() => [lines, plainLines.length], { timeout: 60_000 }).toEqual([[one], 1])
    expect(plainLines).toEqual([`${one} mine of admin: tool files write (no rule covers it)`])
    const two = await first.ask({ name: 'rename' })
    await expect.poll(() => lines, { timeout: 60_000 }).toEqual([one, two])
    await first[Symbol.asyncDispose]()
    await there.stop()
    await there.start()
    const { approval_id: three } = await there.call('policy.propose', { agent_id, text: '# none yet\n' })
    await expect.poll(() => lines, { timeout: 60_000 }).toEqual([one, two, three])
    expect((await there.call('approval.list', {})).items.map(({ status }) => status)).toEqual(Array(3).fill('pending'))
    watching.kill('SIGTERM')
    plain.kill('SIGTERM')
    expect([await watching.exited, await plain.exited]).toMatchObject([{ code: 130 }, { code: 130 }])
  },
)

test.skipIf(!hasTerminals())(
  'watching at a terminal decides by a key what is shown, one after the other',
  MANY_PROCESSES,
  async () => {
    await using other = new Scratch()
    await using there = await LocalGateway.open(other.data, { gate: 'ask' })
    const { agent_id } = await there.call('agent.create', { name: 'mine' })
    await using asks = await AskingHost.open(there, agent_id, 'one')
    const ids = []
    for (const name of ['one', 'two', 'three', 'four']) ids.push(await asks.ask({ name }))
    const answers = ['a', 'n', 'd', 's'].map((typed) => ({ to: 'q quit: ', typed }))
    const { code, out } = await onTerminal(other, ['approvals', 'watch', '--data', other.data], {
      columns: 100,
      rows: 40,
      // What is typed before anything is shown counts for nothing.
      typed: 'x',
      answers: [...answers, { to: 'nothing waits for you', typed: 'q' }],
    })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('tool files three of mine is denied.') })
    const decided = await Promise.all(ids.map((approval_id) => there.call('approval.get', { approval_id })))
    expect(decided.map((approval) => approval.decided?.decision ?? approval.status)).toEqual([
      'approve',
      'pending',
      'deny_continue',
      'approve_session',
    ])
  },
)

test.each([
  [['--session', '--rule'], '--session and --rule exclude each other'],
  [['--rule', '--arguments', '{}'], '--rule and --arguments exclude each other'],
  [['--minutes', '5'], '--minutes says how long --session goes on'],
  [['--session', '--minutes', '0'], '--minutes must be a whole number from 1 to 720'],
  [['--arguments', '[1]'], '--arguments must be a JSON object'],
  [['--arguments', '@nowhere'], '--arguments nowhere'],
])('approvals approve with %j is wrong usage, told in one line', async (args, words) => {
  const { code, out, err } = await run(['approvals', 'approve', 'apr_0000', ...args])
  expect({ code, out, err }).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^parley: [^\n]*\n$/) })
  expect(err).toContain(words)
})
