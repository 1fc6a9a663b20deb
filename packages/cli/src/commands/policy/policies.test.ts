import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentId } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AskingHost } from '../../fixture/asking-host.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
const mine = ['--agent', 'mine', ...at]
let gateway: LocalGateway
let host: AskingHost

const ASK_ALL = '[[rule]]\nname = "all"\ndecision = "ask"\n'
const ALLOW_ALL = '[[rule]]\nname = "all"\ndecision = "allow"\n'
const FAILS = `${ASK_ALL}[[example]]\ncall = { mount = "files", tool = "write" }\ndecision = "allow"\n`
const DENY_WRITES = `# ours
[[rule]]
name = "writes"
mount = "files"
tool = "write"
decision = "deny_continue"
reason = "no writing"

[[example]]
call = { mount = "files", tool = "write" }
decision = "deny_continue"
`

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data, { gate: 'ask' })
  const { agent_id }: { agent_id: AgentId } = await json(['agent', 'create', 'mine', ...at])
  host = await AskingHost.open(gateway, agent_id)
  const files = {
    'ask.toml': ASK_ALL,
    'allow.toml': ALLOW_ALL,
    'fails.toml': FAILS,
    'deny.toml': DENY_WRITES,
    'bad.toml': '# mine\na b',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scratch.folder, name), text)
  writeFileSync(join(scratch.folder, 'maybe.toml'), '[[rule]]\nname = "x"\ndecision = "maybe"\n')
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

describe('the policy of an agent, from its first draft to its end', { shuffle: false }, () => {
  test('there is none at first, and what is wrong with one is said with the file', async () => {
    expect(await run(['policy', 'show', ...mine])).toMatchObject({
      code: 0,
      out: '',
      err: 'the policy of mine has no rules; parley policy set FILE --agent mine writes some\n',
    })
    expect(await run(['policy', 'set', 'maybe.toml', ...mine])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^parley: maybe\.toml: .*decision.*docs\/policy\.md/),
    })
    expect(await run(['policy', 'set', 'bad.toml', ...mine])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^parley: bad\.toml: line 2, column \d+: this is no TOML: [^(]*: a b \(docs\/policy\.md has [^(]*\)\n$/,
      ),
    })
  })

  test('one whose examples fail is written down and never activated', async () => {
    const drafted = await run(['policy', 'set', 'fails.toml', ...mine])
    expect(drafted).toMatchObject({ code: 1, err: '' })
    expect(drafted.out).toContain('Version 1 of the policy of mine; none is active.\n0 of 1 example holds.\n')
    expect(drafted.out).toContain('example 1 fails: it says allow, and by the rule all it is ask\n')
    expect(drafted.out).toContain('It cannot become active while examples fail.')
    const insisted = await run(['policy', 'set', 'fails.toml', '--activate', '--yes', ...mine])
    expect(insisted).toMatchObject({ code: 1, err: expect.stringContaining('1 of its examples fails') })
    expect(insisted.out).toContain('Version 2 of the policy of mine, the same text as version 1; none is active.')
    const asJson = await run(['policy', 'set', 'fails.toml', '--activate', '--json', ...mine])
    expect(JSON.parse(asJson.out)).toMatchObject({ status: 'draft', review: { examples: { run: 1 } } })
    expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: 'not_activated' } })
    expect(asJson.code).toBe(1)
    const { review } = await json(['policy', 'replay', '1', ...mine])
    expect(await run(['policy', 'activate', '1', '--digest', review.digest, ...mine])).toMatchObject({
      code: 1,
      err: expect.stringContaining('VERSION: 1 of its examples'),
    })
  })

  test('a good one is activated by the line that its draft printed, and is printed as it was written', async () => {
    const { out } = await run(['policy', 'set', 'deny.toml', '--note', 'less of it', ...mine])
    expect(out).toContain('1 of 1 example holds.\nNo call was made yet that it could be tried on.\n')
    const [, line = ''] = /^ {2}parley (policy activate 4 --digest [0-9a-f]{64} --agent mine)$/m.exec(out) ?? []
    expect(await run([...line.split(' '), ...at])).toMatchObject({
      code: 0,
      out: 'Version 4 of the policy of mine is active.\n',
    })
    expect(await run(['policy', 'show', ...mine])).toEqual({ code: 0, out: DENY_WRITES, err: '' })
    expect((await run(['policy', 'show', '--version', '1', ...mine])).out).toBe(FAILS)
  })

  test('a call is tried: by what is active, or by a file in its place', async () => {
    const call = ['policy', 'test', '--mount', 'files', '--tool', 'write', '--args', '{"path":"a"}', ...mine]
    expect(await json(call)).toMatchObject({ decision: 'deny_continue', rule: 'writes', layer: 'agent', reason: 'no writing' })
    const { out } = await run(call)
    expect(out).toMatch(
      /^decision +deny_continue\nrule +writes\nlayer +agent\nreason +no writing\n\nlayer .*\nagent +deny_continue/,
    )
    expect(await json([...call, '--file', 'allow.toml'])).toMatchObject({ decision: 'allow', rule: 'all' })
    const installation = await json([...call, '--file', 'ask.toml', '--layer', 'installation'])
    expect(installation.trace).toMatchObject([{ layer: 'installation', outcome: 'ask' }, { layer: 'agent' }])
    expect(await run([...call, '--file', 'bad.toml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--file bad.toml: line 2, '),
    })
  })

  test('a call that may be none is tried with a warning on stderr', async () => {
    const server = { kind: 'stdio', command: 'true' } as const
    const { agent_id } = await json(['agent', 'show', 'mine', ...at])
    await gateway.call('mount.attach', { agent_id, name: 'files', server })
    expect(await run(['policy', 'test', '--tool', 'files_read', ...mine])).toMatchObject({
      code: 0,
      err: 'warning: without a mount files_read is an engine’s own; the mount files shows read by this name (did you mean --mount files --tool read?)\n',
    })
    expect(await run(['policy', 'test', '--mount', 'nosuch', '--tool', 'zz', ...mine])).toMatchObject({
      code: 0,
      err: 'warning: nothing is mounted as nosuch for mine; there are: files\n',
    })
  })

  test('what becomes looser is said first, and is not activated without a yes', async () => {
    await host.made('write', 'deny')
    const loose = ['policy', 'set', 'allow.toml', '--activate', ...mine]
    const refused = await run(loose)
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('1 of the calls that were made would be decided looser'),
    })
    expect(refused.err).toContain('--yes')
    expect(refused.out).toContain('1 call of 1 agent was looked at: 1 would be decided otherwise, 1 of them looser.\n')
    expect(refused.out).toMatch(/^looser +admin\/mine +tool files write +deny_continue +allow +all /m)
    expect(await json(['policy', 'show', ...mine])).toMatchObject({ policy: { version: 4 } })
    expect(await json([...loose, '--yes'])).toMatchObject({ version: 6, status: 'active', review: { replayed: { looser: 1 } } })
    expect(await run(['policy', 'set', 'deny.toml', '--activate', ...mine])).toMatchObject({ code: 0, err: '' })
    expect((await run(['policy', 'show', ...mine])).out).toBe(DENY_WRITES)
  })

  test('a version of before is tried again, and becomes active only when somebody says so', async () => {
    const again = await run(['policy', 'replay', '6', ...mine])
    expect(again.out).toContain('Version 6 of the policy of mine; version 7 is active.')
    expect(await run(['policy', 'activate', '6', ...mine])).toMatchObject({ code: 1, err: expect.stringContaining('--yes') })
    expect(await run(['policy', 'activate', '6', '--yes', ...mine])).toMatchObject({
      code: 0,
      out: expect.stringContaining('It is active.\n'),
    })
    const { items } = await json(['policy', 'history', ...mine])
    expect(items[0]).toMatchObject({ version: 7, status: 'retired' })
    const { out } = await run(['policy', 'history', ...mine])
    expect(out).toMatch(/^6 +active .* by admin/m)
    expect(out).toMatch(/^4 +retired .* less of it$/m)
  })

  test.skipIf(!hasTerminals())('at a terminal it asks before anything becomes active', MANY_PROCESSES, async () => {
    const size = { columns: 120, rows: 30 }
    const no = await onTerminal(scratch, ['policy', 'activate', '4', ...mine], { ...size, typed: 'n\n' })
    expect(no).toMatchObject({ code: 1, out: expect.stringContaining('Activate it? [y/N]') })
    expect(await json(['policy', 'show', ...mine])).toMatchObject({ policy: { version: 6 } })
    expect(await onTerminal(scratch, ['policy', 'activate', '4', ...mine], { ...size, typed: 'y\n' })).toMatchObject({ code: 0 })
    expect(await json(['policy', 'show', ...mine])).toMatchObject({ policy: { version: 4 } })
  })

  test('it is retired, and another is proposed', async () => {
    expect(await run(['policy', 'retire', ...mine])).toMatchObject({
      code: 0,
      out: 'The policy of mine is retired: it has no rules any more.\n',
    })
    expect(await json(['policy', 'retire', ...mine])).toEqual({ retired: false })
    const proposed = await run(['policy', 'propose', 'deny.toml', '--note', 'please', ...mine])
    const [, id = ''] = /parley approvals approve (apr_\w+) makes it active/.exec(proposed.out) ?? []
    const approved = await run(['approvals', 'approve', id, ...at])
    expect(approved.out).toMatch(/ is approved\. Version \d+ of the agent’s policy is active\.\n$/)
    expect(await json(['approvals', 'show', id, ...at])).toMatchObject({ kind: 'proposal', status: 'returned' })
    expect((await run(['policy', 'show', ...mine])).out).toBe(DENY_WRITES)
  })
})

test('whose it is: one’s own, another person’s, the installation’s; from stdin too', MANY_PROCESSES, async () => {
  await gateway.call('user.add', { username: 'ada' })
  const piped = await scratch.run(['policy', 'set', '-', '--user', 'ada', '--json', ...at], { input: ASK_ALL })
  expect(JSON.parse(piped.out)).toMatchObject({ layer: 'owner', version: 1 })
  const wrong = await scratch.run(['policy', 'set', '-', '--user', 'ada', ...at], { input: `x = ${'y'.repeat(200)}` })
  expect(wrong.err).toMatch(/^parley: standard input: line 1, column 5: [^\n]*: x = y{56}… \(/)
  expect((await run(['policy', 'history', '--user', 'ada', ...at])).out).toMatch(/^1 +draft/m)
  expect(await json(['policy', 'set', 'ask.toml', '--activate', '--installation', ...at])).toMatchObject({
    layer: 'installation',
  })
  expect((await run(['policy', 'show', '--installation', ...at])).out).toBe(ASK_ALL)
  await run(['policy', 'retire', '--installation', ...at])
  expect(await json(['policy', 'set', 'ask.toml', ...at])).toMatchObject({ layer: 'owner', agent_id: null })
  expect(await run(['policy', 'show', '--user', 'nobody', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--user: there is no user nobody'),
  })
  expect(await run(['policy', 'set', 'ask.toml', '--note', 'x'.repeat(501), ...at])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--note must have at most 500'),
  })
})

test('a token that only decides names an agent by its whole id, and is told so', async () => {
  const { agent_id } = await json(['agent', 'show', 'mine', ...at])
  const { token } = await gateway.call('token.create', { role: 'user', username: 'admin', scopes: ['approvals'] })
  const decides = { env: { PARLEY_TOKEN: token } }
  const show = (agent: string) => run(['policy', 'history', '--agent', agent, '--url', gateway.url], decides)
  expect(await show('mine')).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /may not look up which agent mine is \(give its whole id, agt_….*--scope approvals --scope read\)\n$/,
    ),
  })
  expect(await show(agent_id)).toMatchObject({ err: expect.not.stringContaining('scope') })
})

test.each([
  [['policy', 'show', '--agent', 'a', '--installation'], '--agent and --installation exclude each other'],
  [['policy', 'show', '--user', 'A b'], '--user must be'],
  [['policy', 'show', '--version', 'x'], '--version must be a whole number'],
  [['policy', 'set', 'missing.toml'], 'FILE missing.toml'],
  [['policy', 'replay', 'one'], 'VERSION must be a whole number'],
  [['policy', 'activate', '1', '--digest', 'abc'], '--digest must be'],
  [['policy', 'test', '--tool', 'x'], 'policy test needs --agent'],
  [['policy', 'test', '--agent', 'mine'], 'needs one of --tool, --resource, --prompt and --command'],
  [['policy', 'test', '--agent', 'mine', '--tool', 'x', '--prompt', 'y'], 'needs one of --tool'],
  [['policy', 'test', '--agent', 'mine', '--tool', 'x', '--args', '[1]'], '--args must be a JSON object'],
  [['policy', 'test', '--agent', 'mine', '--tool', 'x', '--args', '{'], '--args must be a JSON object'],
  [['policy', 'test', '--agent', 'mine', '--tool', 'x', '--layer', 'owner'], '--layer says what --file stands for'],
  [['policy', 'propose', 'ask.toml'], 'policy propose needs --agent'],
  [['policy', 'disallow', 'alw_x'], 'policy disallow needs --agent'],
])('%j is wrong usage, told in one line', async (args, words) => {
  const { code, out, err } = await run(args)
  expect({ code, out, err }).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^parley: [^\n]*\n$/) })
  expect(err).toContain(words)
})
