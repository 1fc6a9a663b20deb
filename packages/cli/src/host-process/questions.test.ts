import { messageOf } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { AgentBench, ON_HOST, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { ASKER } from '../fixture/asking-server.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const PERSON = 'elicitation/create'
const MODEL = 'sampling/createMessage'
const TOOLS = '[[rule]]\nname = "tools"\nkind = "tool"\ndecision = "allow"\n'
const questions = (decision: string): string => `[[rule]]\nname = "questions"\nkind = "question"\ndecision = "${decision}"\n`

/** A real gateway that denies what no rule covers, a host that is a process, and a mount that asks the person and the model. */
async function worldOf() {
  const bench = await AgentBench.open({ gate: 'deny' })
  onTestFinished(() => bench[Symbol.asyncDispose]())
  await bench.host('one')
  const agent_id = await bench.agent('mine')
  const server = stdio({ ...ON_HOST, args: ['--input-type=module', '-e', ASKER] })
  await bench.gateway.call('mount.attach', { agent_id, name: 'asker', server, options: { samples: true } })
  const asked: unknown[] = []
  const client = await bench.connect(await bench.token(agent_id), {
    capabilities: { elicitation: {}, sampling: {} },
    handlers: {
      elicit: ({ message }) => (asked.push(message), { action: 'accept', content: { name: 'Ada' } }),
      sample: () => (asked.push(MODEL), { role: 'assistant', content: { type: 'text', text: 'so says Ada' }, model: 'm' }),
    },
  })
  await expect.poll(() => toolsOf(client, 'asker'), { timeout: 60_000 }).toEqual(['asker_ask'])
  const activate = async (text: string): Promise<void> => {
    const { version, review } = await bench.gateway.call('policy.set', { agent_id, text })
    await bench.gateway.call('policy.activate', { agent_id, version, digest: review.digest })
  }
  /** What the server was answered, or the code and the words of the error that its caller got. */
  const ask = (method: string): Promise<string> =>
    client.callToolRaw('asker_ask', { method }).then(
      (result) => JSON.stringify(result['content']),
      (error: unknown) => `${Object(error).code} ${messageOf(error)}`,
    )
  return { bench, activate, ask, asked }
}

test('a policy stops what a mount asks; nobody else is asked about a question to a person', MANY_PROCESSES, async () => {
  const { bench, activate, ask, asked } = await worldOf()
  await activate(TOOLS)
  await expect.poll(() => ask(PERSON)).toContain('Ada')
  expect(asked).toEqual(['The server "asker" asks:\nwho?'])
  // The model is the client's to pay for: what no rule covers is decided as the installation says.
  expect(await ask(MODEL)).toContain('-32951')

  await activate(TOOLS + questions('deny_continue'))
  await expect.poll(() => ask(PERSON)).toContain('-32951')
  await activate(TOOLS + questions('deny_abort'))
  await expect.poll(() => ask(MODEL)).toMatch(/^-32950 /)
  expect(await ask(PERSON)).toMatch(/^-32950 /)

  await activate(TOOLS + questions('ask'))
  await expect.poll(() => ask(PERSON)).toContain('Ada')
  const sampling = ask(MODEL)
  const waiting = async () => (await bench.gateway.call('approval.list', {})).items.find(({ status }) => status === 'pending')
  await expect.poll(waiting).toMatchObject({ kind: 'question', mount: 'asker', name: MODEL })
  expect(asked).not.toContain(MODEL)
  const approval_id = (await waiting())?.approval_id
  if (approval_id === undefined) throw new Error('nothing waits')
  await bench.gateway.call('approval.decide', { approval_id, decision: 'approve' })
  expect(await sampling).toContain('so says Ada')
  await expect.poll(async () => (await bench.gateway.call('approval.get', { approval_id })).status).toBe('returned')
})
