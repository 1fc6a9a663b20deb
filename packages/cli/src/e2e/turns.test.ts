import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'
import { inputOf, say, shell, TurnBench, use } from '../fixture/turn-bench.ts'

test(
  'a turn uses a mounted tool and a command; the log of calls has both, and no key is in the transcript',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open()
    const { gateway, scratch } = bench.agents
    await bench.agents.host('one')
    const id = await bench.agent('mine', { instructions: 'Be brief.' })
    let key = ''
    bench.play(
      (request) => {
        key = String(request.headers.authorization).replace('Bearer ', '')
        return use('count_add')
      },
      shell('pwd; echo made > file; ls ..; env | sort | head -3'),
      say('Done.'),
    )
    const told = await bench.prompt(id, 'count and make a file')
    expect(await bench.ended(told)).toMatchObject({
      status: 'completed',
      outcome: { code: null, message: 'Done.' },
      aborting: false,
      started_at: expect.any(String),
    })
    expect(bench.counted()).toBe(1)
    const [first] = bench.model.requests
    expect(first?.body['instructions']).toBe(
      'Be brief.\n\n## count\nTools and prompts that begin with `count_`.\n\nCounts what it is asked for.',
    )
    const work = join(scratch.folder, 'one', 'agents', id, 'work')
    expect(readFileSync(join(work, 'file'), 'utf8')).toBe('made\n')
    const lines = (await bench.transcript(id)).map(({ line }) => line)
    const shown = lines.filter(({ type }) => type !== 'memory' && type !== 'usage')
    expect(shown.map(({ type }) => type)).toEqual([
      'turn_started',
      'tool',
      'tool_ended',
      'command',
      'command_ended',
      'message',
      'turn_ended',
    ])
    expect(shown[1]).toMatchObject({ mount: 'count', tool: 'add' })
    expect(shown[4]).toMatchObject({ status: 'completed', exit_code: 0, output: expect.stringContaining(work) })
    const { lines: calls } = await gateway.call('agent.read_log', { agent_id: id, log: 'calls' })
    const decided = calls.map(({ line }) => JSON.parse(line)).filter(({ step }) => step === 'decided')
    expect(decided.map(({ kind, mount, name, by }) => [kind, mount, name, by])).toEqual([
      ['tool', 'count', 'add', 'engine'],
      ['command', null, 'bash', 'engine'],
    ])
    expect(key).toBe(bench.upstreamKey)
    const all = JSON.stringify(lines)
    expect(all).not.toContain(bench.upstreamKey)
    expect(all).not.toMatch(/mdl_\w{8}/)
    expect(bench.model.violations).toEqual([])
  },
)

test('fault 15: two prompts while a turn runs are answered in order, and a turn can be ended', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  const { gateway } = bench.agents
  await bench.agents.host('one')
  const id = await bench.agent('mine')
  const { promise: going, resolve: go } = Promise.withResolvers<void>()
  bench.play(
    async () => {
      await going
      return say('first')
    },
    say('second'),
    say('third'),
  )
  const first = await bench.prompt(id, 'one')
  await bench.model.arrived(1)
  const rest = [await bench.prompt(id, 'two'), await bench.prompt(id, 'three')]
  expect((await gateway.call('agent.get', { agent_id: id })).turn).toEqual({ running: first.prompt_id, queued: 2 })
  go()
  const answers = []
  for (const prompt of [first, ...rest]) answers.push((await bench.ended(prompt)).outcome?.message)
  expect(answers).toEqual(['first', 'second', 'third'])
  expect(inputOf(bench.model.requests.at(-1)?.body)).toHaveLength(5)
  bench.play({ silent: true }, say('again'))
  const stuck = await bench.prompt(id, 'four')
  const after = await bench.prompt(id, 'five')
  await bench.model.arrived(4)
  expect(await gateway.call('agent.abort', { agent_id: id })).toMatchObject({ aborting: stuck.prompt_id, withdrawn: 0 })
  expect(await bench.ended(stuck)).toMatchObject({ status: 'interrupted' })
  expect(await bench.ended(after)).toMatchObject({ status: 'completed', outcome: { message: 'again' } })
})

test(
  'kill -9 of a host in the middle of a turn: the next one goes on and ends it, and the tool was called once',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open()
    const first = await bench.agents.host('first')
    const id = await bench.agent('mine')
    bench.play(use('count_add'), { silent: true })
    const told = await bench.prompt(id, 'count once')
    await bench.model.arrived(2)
    process.kill(first.pid, 'SIGKILL')
    bench.play(say('Counted.'))
    await bench.agents.host('second')
    expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Counted.' } })
    expect(bench.counted()).toBe(1)
    const asked = bench.asked(-1)
    expect(asked.split('count once')).toHaveLength(2)
    expect(asked).toContain('interrupted by a restart')
    const started = (await bench.transcript(id)).flatMap(({ line }) => (line.type === 'turn_started' ? [line.resumed] : []))
    expect(started).toEqual([false, true])
  },
)

test('a host that ends gives a turn to the next, which goes on with it', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  const first = await bench.agents.host('first')
  const id = await bench.agent('mine')
  bench.play(use('count_add'), { silent: true })
  const told = await bench.prompt(id, 'count once')
  await bench.model.arrived(2)
  await bench.agents.host('second')
  bench.play(say('Counted.'))
  first.kill('SIGTERM')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Counted.' } })
  expect(bench.counted()).toBe(1)
})

test('fault 15: a turn ends with its budget, and with words where the gate denies', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open({ gate: 'deny' })
  await bench.agents.host('one')
  const { agent_id } = await bench.agents.gateway.call('agent.create', {
    name: 'poor',
    kind: 'local',
    model: 'm',
    budgets: { turn: { tokens: 100_000 } },
  })
  bench.play({ ...use('update_plan', { explanation: null, plan: [] }), usage: { input: 99_000, output: 2_000 } })
  const spent = await bench.ended(await bench.prompt(agent_id, 'go'))
  expect(spent).toMatchObject({ status: 'failed', outcome: { code: 'budget_tokens' } })
  expect(bench.model.requests).toHaveLength(1)
  const id = await bench.agent('mine')
  bench.play(use('count_add'), shell('true'), say('I may not.'))
  expect(await bench.ended(await bench.prompt(id, 'try'))).toMatchObject({
    status: 'completed',
    outcome: { message: 'I may not.' },
  })
  const outputs = inputOf(bench.model.requests.at(-1)?.body).filter(
    (item) => isJsonObject(item) && item['type'] === 'function_call_output',
  )
  expect(outputs).toHaveLength(2)
  for (const output of outputs) expect(JSON.stringify(output)).toContain('gate.default')
  expect(bench.counted()).toBe(0)
})

test('fault 2: a call of a mount that is denied for good ends the turn, and the next one goes on', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  await bench.agents.host('one')
  const agent_id = await bench.agent('mine')
  const text = '[[rule]]\nname = "never"\nmount = "count"\ntool = "add"\ndecision = "deny_abort"\nreason = "no counting"\n'
  const { version, review } = await bench.agents.gateway.call('policy.set', { agent_id, text })
  await bench.agents.gateway.call('policy.activate', { agent_id, version, digest: review.digest })
  bench.play(use('count_add'))
  expect(await bench.ended(await bench.prompt(agent_id, 'count'))).toMatchObject({
    status: 'failed',
    outcome: { code: 'denied', message: expect.stringContaining('no counting') },
  })
  expect(bench.model.requests).toHaveLength(1)
  bench.play(say('I did not.'))
  expect(await bench.ended(await bench.prompt(agent_id, 'and?'))).toMatchObject({ status: 'completed' })
  // The call has its output: a provider would refuse the request without it.
  expect(bench.model.violations).toEqual([])
  expect(bench.counted()).toBe(0)
})

test('a fork knows what was said before its point, and not what came after', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  const { gateway } = bench.agents
  await bench.agents.host('one')
  const id = await bench.agent('mine')
  bench.play(say('It is blue.'), say('It is red.'), say('Blue, I said.'))
  await bench.ended(await bench.prompt(id, 'which colour?'))
  const point = (await bench.transcript(id)).at(-1)?.next_offset ?? 0
  await bench.ended(await bench.prompt(id, 'and now?'))
  const fork = await gateway.call('agent.fork', { agent_id: id, offset: point, name: 'other' })
  expect(await bench.ended(await bench.prompt(fork.agent_id, 'what did you say?'))).toMatchObject({ status: 'completed' })
  const asked = bench.asked(-1)
  for (const known of ['which colour?', 'It is blue.', 'what did you say?']) expect(asked).toContain(known)
  for (const unknown of ['and now?', 'It is red.']) expect(asked).not.toContain(unknown)
  expect((await bench.transcript(fork.agent_id)).map(({ line }) => line.type)).toContain('forked')
})

test('agent run shows a turn as it is taken, and its exit code says how it ended', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  await bench.agents.host('one')
  await bench.agent('mine')
  const { run } = commandsHere(bench.agents.scratch)
  const at = ['--data', bench.agents.scratch.data]
  bench.play(use('count_add'), shell('echo hello; exit 3'), say('It is\ndone.'))
  const done = await run(['agent', 'run', 'mine', 'go', ...at])
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(done.out).toBe('> admin: go\n+ count_add {}\n$ echo hello; exit 3\n  failed with 3: hello\nIt is\ndone.\n')
  bench.play({ pieces: [{ refusal: 'I will not.' }] })
  const failed = await run(['agent', 'run', 'mine', 'again', '--json', ...at])
  expect(failed.code).toBe(1)
  const lines = failed.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.at(-1)).toMatchObject({ status: 'failed', outcome: { code: 'model_refusal' } })
  expect(lines[0]).toMatchObject({ next_offset: expect.any(Number), line: { type: 'turn_started', text: 'again' } })
  bench.play({ silent: true })
  const asked = bench.model.requests.length
  const watched = bench.agents.scratch.begin(['agent', 'run', 'mine', 'forever', ...at])
  await bench.model.arrived(asked + 1)
  watched.kill('SIGINT')
  expect(await watched.exited).toEqual({ code: 130, signal: null })
  expect(watched.err()).toContain('ending the turn')
})

test('an agent works in a folder that was granted, below a root of its host, and in no other', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  const { gateway, scratch } = bench.agents
  const root = join(scratch.folder, 'root')
  mkdirSync(join(root, 'inner'), { recursive: true })
  await bench.agents.host('one', '--root', root)
  const id = await bench.agent('mine', { folder: join(root, 'inner') })
  bench.play(shell('echo here > file'), say('Done.'))
  expect(await bench.ended(await bench.prompt(id, 'go'))).toMatchObject({ status: 'completed' })
  expect(readFileSync(join(root, 'inner', 'file'), 'utf8')).toBe('here\n')
  await gateway.call('agent.update', { agent_id: id, folder: scratch.folder })
  expect(await bench.ended(await bench.prompt(id, 'go'))).toMatchObject({
    status: 'failed',
    outcome: { code: 'folder_refused', message: expect.stringContaining('not below a --root') },
  })
  await gateway.call('agent.update', { agent_id: id, folder: null })
  bench.play(say('At home.'))
  expect(await bench.ended(await bench.prompt(id, 'go'))).toMatchObject({ status: 'completed', outcome: { message: 'At home.' } })
})
