import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { NO_TOKENS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const script = (name: string) =>
  ({ name: `play-${name}`, kind: 'script', wire: 'responses', script: name, enabled: true, models: [] }) as const

async function openBench(...names: string[]) {
  const scratch = new Scratch()
  const gateway = await LocalGateway.open(scratch.data, { channels: names.map(script) })
  const here = commandsHere(scratch)
  return {
    scratch,
    gateway,
    run: (...args: string[]) => here.run([...args, '--data', scratch.data]),
    json: (...args: string[]) => here.json([...args, '--data', scratch.data]),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await scratch[Symbol.asyncDispose]()
    },
  }
}

test('models are listed with their prices, and a script says that it is one', MANY_PROCESSES, async () => {
  await using bench = await openBench('knapsack')
  const { out } = await bench.scratch.run(['model', 'list', '--data', bench.scratch.data])
  expect(out).toMatch(/^script-knapsack +play-knapsack +\$0\.00 +\$0\.00 +\$0\.00 +\$0\.00 +400000 +- +a script, no model/m)
  expect((await bench.json('model', 'list')).items).toMatchObject([{ model: 'script-knapsack', script: true, priced: true }])
})

test('the first live list says which channels are silent and which have no list, with what to do', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const server = createServer((request, response) => {
    if (!(request.url ?? '').startsWith('/silent')) response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    for (const name of ['silent', 'bare'])
      await bench.run('channel', 'set', name, '--base-url', `http://127.0.0.1:${port}/${name}`)
    const { err } = await bench.run('model', 'list', '--live')
    expect(err).toContain('silent does not list its models: no whole answer within 3 s\n')
    expect(err).toMatch(
      /^bare does not list its models: it has no list of models there \(status 404\); .*parley pricing set MODEL/m,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('a channel is set up, priced, changed and removed, and its key is never shown', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const { run, json, scratch } = bench
  expect(await run('channel', 'list')).toMatchObject({ code: 0, err: 'there is no channel\n' })
  expect(await run('model', 'list')).toMatchObject({ code: 0, err: expect.stringContaining('parley channel set') })
  writeFileSync(join(scratch.folder, 'key'), 'sk-this-is-very-secret-0000\n')
  const made = await json('channel', 'set', 'house', '--base-url', 'http://127.0.0.1:9/v1', '--key-file', 'key', '--wire', 'chat')
  expect(made).toMatchObject({ name: 'house', kind: 'openai', wire: 'chat', source: 'admin', enabled: true })
  expect(JSON.stringify(made)).not.toContain('very-secret')
  const priced = await json(
    'pricing',
    'set',
    'big',
    '--channel',
    'house',
    '--input',
    '1.25',
    '--output',
    '10',
    '--context',
    '64000',
  )
  expect(priced).toMatchObject({
    model: 'big',
    input_microusd_per_1m_tokens: 1_250_000,
    output_microusd_per_1m_tokens: 10_000_000,
    context_tokens: 64_000,
  })
  expect((await run('pricing', 'list')).out).toMatch(/^big +house +\$1\.25 +- +\$10\.00 +- +64000 +active$/m)
  expect(await json('pricing', 'set', 'big', '--channel', 'house', '--output', 'none')).toMatchObject({
    input_microusd_per_1m_tokens: 1_250_000,
    output_microusd_per_1m_tokens: null,
  })
  expect((await run('model', 'list', '--live')).err).toMatch(/^house does not list its models: .*ECONNREFUSED 127\.0\.0\.1:9$/m)
  expect((await run('channel', 'set', 'house', '--disable')).out).toMatch(/^house +openai .* chat .* disabled +admin$/m)
  expect(await json('channel', 'set', 'house', '--no-key')).toMatchObject({ key: null })
  expect(await run('pricing', 'delete', 'big', '--channel', 'house')).toMatchObject({
    code: 0,
    out: 'big of house is deleted.\n',
  })
  expect(await run('channel', 'delete', 'house')).toMatchObject({ code: 0, out: 'house is deleted.\n' })
})

test.each([
  [['channel', 'set', 'A b'], 'CHANNEL'],
  [['channel', 'set', 'a', '--enable', '--disable'], 'exclude each other'],
  [['channel', 'set', 'a', '--wire', 'smoke'], '--wire smoke is none of'],
  [['pricing', 'set', 'm'], '--channel is needed'],
  [['pricing', 'set', 'm', '--channel', 'c', '--input', 'cheap'], '--input must be dollars'],
  [['usage', '--by', 'hour'], '--by hour is none of'],
  [['job', 'submit', '--code', 'a.cpp', '--attempts', '2'], '--attempts is for jobs that a model works on'],
  [['job', 'submit', '--statement', 'a.cpp', '--budget-usd', 'all'], '--budget-usd must be dollars'],
  [['job', 'submit', '--statement', 'a.cpp', '--attempts', '11'], '--attempts must be a whole number from 1 to 10'],
])('%j is wrong usage', async (args, message) => {
  await using scratch = new Scratch()
  writeFileSync(join(scratch.folder, 'a.cpp'), 'int main() {}')
  expect(await commandsHere(scratch).run(args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
})

test('usage says what was used and what is left', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  expect((await bench.run('usage')).out).toMatch(/^day +calls +tokens in +cached +tokens out +cost\nall +0 +0 +0 +0 +\$0\.00\n$/)
  expect(await bench.json('usage', '--by', 'model')).toMatchObject({ groups: [], total: { calls: 0 } })
  const { user } = await bench.gateway.call('user.add', { username: 'ada' })
  for (const [callId, estimated] of [
    ['a', true],
    ['b', false],
  ] as const)
    await bench.gateway.store.usages.add({
      agentId: null,
      prompt: null,
      ...{ jobId: null, ownerId: user.id, claimId: 'claim', claim: 1, attempt: 1, callId, channel: 'main', model: 'm' },
      ...{ threadId: null, estimated, tokens: { ...NO_TOKENS, input_tokens: 100, output_tokens: 20 }, prices: null },
      costMicrousd: null,
    })
  const { out } = await bench.run('usage', '--by', 'user')
  expect(out).toMatch(/^ada +2 \(1 estimated\) +200 +0 +40 +unpriced$/m)
  expect(out).toMatch(/^all +2 \(1 estimated\) /m)
  expect(out).toContain('\nestimated: broken off before its tokens were told.')
  expect(await bench.json('usage', '--by', 'user')).toMatchObject({ groups: [{ key: user.id, estimated_calls: 1 }] })
  const { agent_id: agentId } = await bench.gateway.call('agent.create', { name: 'helper', kind: 'local', model: 'm' })
  await bench.gateway.store.usages.add({
    ...{ jobId: null, agentId, prompt: 1, ownerId: null, claimId: '7', claim: 0, attempt: 0, callId: 'c', channel: 'main' },
    ...{ model: 'm', threadId: null, estimated: false, tokens: { ...NO_TOKENS, input_tokens: 7 }, prices: null, costMicrousd: 9 },
  })
  expect((await bench.run('usage', '--by', 'agent')).out).toMatch(/^helper +1 +7 +0 +0 +\$0\.00/m)
  expect(await bench.json('usage', '--agent', 'helper')).toMatchObject({ total: { calls: 1, input_tokens: 7 } })
})

test('a job for a model takes the only one there is; of several one has to be named', MANY_PROCESSES, async () => {
  await using bench = await openBench('knapsack')
  writeFileSync(join(bench.scratch.folder, 'p.md'), '# A problem\n')
  const submit = (...args: string[]) => bench.run('job', 'submit', '--statement', 'p.md', '--json', '--detach', ...args)
  const made = await submit('--attempts', '2', '--budget-usd', '0.05', '--budget-tokens', '5000')
  expect(made).toMatchObject({ code: 0 })
  const { job_id } = JSON.parse(made.out)
  expect(await bench.gateway.state(job_id)).toMatchObject({ model: 'script-knapsack', status: 'queued' })
  expect((await bench.gateway.store.jobs.inputs(job_id))?.spec).toMatchObject({
    max_attempts: 2,
    budget: { tokens: 5_000, microusd: 50_000 },
  })
  await bench.gateway.call('channel.set', { name: 'other', kind: 'script', script: 'stairs' })
  expect(await submit()).toMatchObject({ code: 2, err: expect.stringContaining('script-knapsack, script-stairs') })
  expect(await submit('--channel', 'other')).toMatchObject({ code: 0 })
  const wrong = await submit('--model', 'script-knapsack', '--channel', 'other')
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--model script-knapsack') })
})

test('without any model there is a word about how to get one', async () => {
  await using bench = await openBench()
  writeFileSync(join(bench.scratch.folder, 'p.md'), '# A problem\n')
  const { code, err } = await bench.run('job', 'submit', '--statement', 'p.md')
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(/there is no model .*parley channel set/) })
})
