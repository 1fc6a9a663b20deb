import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AskingHost } from '../../fixture/asking-host.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run } = commandsHere(scratch)
const at = ['--data', scratch.data]
let gateway: LocalGateway
let host: AskingHost
let agent = ''

const AT = '2026-11-18T10:11:12.000Z'
const decided = (id: number, name: string, decision: object) => ({
  at: AT,
  id,
  step: 'decided',
  by: 'tok_1 legacy',
  kind: 'tool',
  mount: 'files',
  name,
  arguments: {},
  decision,
  ms: 0,
})

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data, { gate: 'ask' })
  const { agent_id } = await gateway.call('agent.create', { name: 'theirs' })
  agent = agent_id
  host = await AskingHost.open(gateway, agent_id)
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test(
  'what an agent called is shown a line a call: who, what, decided by which rule, and how it ended; more as it comes',
  MANY_PROCESSES,
  async () => {
    expect(await run(['agent', 'calls', 'theirs', ...at])).toEqual({ code: 0, out: '', err: 'it has called nothing yet\n' })
    expect(await run(['agent', 'transcript', 'theirs', ...at])).toEqual({
      code: 0,
      out: '',
      err: "theirs is external: its turns are its own program's; parley agent calls theirs shows what it called\n",
    })
    await host.wrote(
      0,
      decided(1, 'read', { kind: 'allow', by: { layer: 'agent', rule: 'reads' } }),
      { at: AT, id: 1, step: 'returned', ms: 12, isError: false },
      decided(2, 'write', { kind: 'deny', endsTurn: false, reason: 'use another\nname', by: { layer: 'owner', rule: 'bad' } }),
      decided(3, 'move', { kind: 'allow' }),
    )
    const env = { env: { TZ: 'UTC' } }
    const shown = await run(['agent', 'calls', 'theirs', ...at], env)
    const lines = [
      '2026-11-18 10:11:12 tok_1: tool files read: allowed by the rule reads of the policy of the agent; returned after 12 ms',
      '2026-11-18 10:11:12 tok_1: tool files write: denied by the rule bad of the policy of the owner: use another name',
      '2026-11-18 10:11:12 tok_1: tool files move: allowed, no rule covers it; no end is written yet',
    ]
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.out.split('\n').map((line) => line.replace(/^ *\d+ /, ''))).toEqual([...lines, ''])
    expect((await run(['agent', 'calls', 'theirs', '--last', '1', ...at], env)).out).toMatch(
      /^ *\d+ [^\n]* files move: [^\n]*\n$/,
    )
    const [offset = ''] = /\d+/.exec(shown.out) ?? []
    expect((await run(['agent', 'calls', 'theirs', '--from', offset, ...at], env)).out).not.toContain('files read')
    const written = (await run(['agent', 'calls', 'theirs', '--json', ...at])).out.trimEnd().split('\n')
    expect(written.map((line) => JSON.parse(line).line.step)).toEqual(['decided', 'returned', 'decided', 'decided'])

    const following = scratch.begin(['agent', 'calls', agent, '--last', '2', '--follow', ...at])
    const heard: string[] = []
    createInterface({ input: following.stdout ?? process.stdin }).on('line', (line) => heard.push(line))
    await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(2)
    const { next_offset: end } = JSON.parse(written.at(-1) ?? '')
    await host.wrote(end, { at: AT, id: 3, step: 'failed', ms: 5, code: -32_000, message: 'no such file' })
    await expect.poll(() => heard.at(-1), { timeout: 60_000 }).toMatch(/ files move: .*; failed after 5 ms: no such file$/)
    following.kill('SIGTERM')
    expect(await following.exited).toMatchObject({ code: 130 })
  },
)
