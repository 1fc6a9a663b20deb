import { isJsonObject, type JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { AgentTurns } from './agent-turns.ts'
import type { ScriptedApproval } from './fixture/scripted-gateway.ts'
import { KEY, openTurnWorld, type TurnWorld } from './fixture/turn-world.ts'

const say = (text: string) => ({ pieces: [{ text }] })
const use = (call: string, args: JsonObject) => ({ pieces: [{ call, arguments: args, id: 'c1' }] })
const ECHO = use('kit_echo', { text: 'hello' })
const OWN = use('list_files', { path: null, depth: null })

/** What the model reads of the one call, at its last request. */
const outputOf = ({ model }: TurnWorld): string => {
  const input = model.requests.at(-1)?.body['input']
  const items = Array.isArray(input) ? input.filter((item) => isJsonObject(item)) : []
  const output = items.find(({ type }) => type === 'function_call_output')?.['output']
  return typeof output === 'string' ? output : JSON.stringify(output)
}

const asked = async ({ gateway }: TurnWorld): Promise<ScriptedApproval | undefined> => {
  await expect.poll(() => gateway.approvals.some(({ status, isLeft }) => status === 'pending' && !isLeft)).toBe(true)
  return gateway.approvals.at(-1)
}

/** What a kill leaves: nothing of what its host says from then on is written. */
async function kill(world: TurnWorld, host: AgentTurns): Promise<void> {
  const { transcript, calls } = world.gateway
  const [left, made] = [transcript.slice(), calls.slice()]
  const statuses = world.gateway.approvals.map(({ status }) => status)
  await host.close()
  transcript.splice(0, transcript.length, ...left)
  calls.splice(0, calls.length, ...made)
  for (const [index, approval] of world.gateway.approvals.entries()) approval.status = statuses[index] ?? approval.status
  world.gateway.takeOver()
}

test.each([
  ['a mounted tool', ECHO, 'hello'],
  ['a tool of its own', OWN, ''],
])('%s: the turn waits for a person, its host is killed, and the next waits for the same approval', async (_name, call, text) => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('do it')
  world.play(call, say('Done.'))
  const died = world.host()
  died.wake()
  const approval = await asked(world)
  await kill(world, died)
  world.host().wake()
  expect(await asked(world)).toBe(approval)
  world.gateway.decide(approval, { status: 'approved', decision: 'approve' })
  await world.idle()
  expect(prompt.outcome?.message).toBe('Done.')
  expect(world.gateway.approvals).toHaveLength(1)
  expect(world.model.requests).toHaveLength(2)
  expect(outputOf(world)).toContain(text)
  expect(outputOf(world)).not.toContain('interrupted')
  expect(JSON.stringify(world.model.requests.at(-1)?.body['input'])).not.toContain('restart')
  expect(world.model.violations).toEqual([])
  expect(world.failures).toEqual([])
})

test.each([
  ['after the next host waits', false],
  ['while no host holds the agent', true],
])('a denial %s is read by the model with its reason', async (_when, isBetween) => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('do it')
  world.play(ECHO, say('Then not.'))
  const died = world.host()
  died.wake()
  const approval = await asked(world)
  await kill(world, died)
  const deny = () => world.gateway.decide(approval, { status: 'denied', decision: 'deny_continue', reason: 'use the other' })
  if (isBetween) deny()
  world.host().wake()
  if (!isBetween) {
    await asked(world)
    deny()
  }
  await world.idle()
  expect(prompt.outcome?.message).toBe('Then not.')
  expect(outputOf(world)).toContain('ann said no: use the other')
  expect(world.gateway.approvals).toHaveLength(1)
})

test('a host that gives its agents back leaves the approval, and the turn, to the next', async () => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('do it')
  world.play(ECHO, say('Done.'))
  const gone = world.host()
  gone.wake()
  const approval = await asked(world)
  world.letGo()
  await gone.close()
  world.gateway.takeOver()
  world.host().wake()
  expect(await asked(world)).toBe(approval)
  world.gateway.decide(approval, { status: 'approved', decision: 'approve' })
  await world.idle()
  expect(prompt.outcome?.message).toBe('Done.')
  expect(outputOf(world)).toContain('hello')
})

test('a call that was sent when its host died is told as unknown, and nobody is asked again', async () => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('wait for it')
  world.play(use('kit_wait', {}), say('I look.'))
  const died = world.host()
  died.wake()
  world.gateway.decide(await asked(world), { status: 'approved', decision: 'approve' })
  await expect.poll(() => world.gateway.transcript.some((line) => line.includes('"type":"dispatched"'))).toBe(true)
  await kill(world, died)
  world.host().wake()
  await world.idle()
  expect(prompt.outcome?.message).toBe('I look.')
  expect(outputOf(world)).toContain('may have taken effect')
  expect(world.gateway.approvals).toMatchObject([{ status: 'dispatched' }])
})

test('a call with a secret in it is not made again: what is kept of it is not what the model asked for', async () => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('do it')
  world.play(use('kit_echo', { text: KEY }), say('I see.'))
  const died = world.host()
  died.wake()
  await asked(world)
  await kill(world, died)
  world.host().wake()
  await world.idle()
  expect(prompt.outcome?.message).toBe('I see.')
  expect(outputOf(world)).toContain('interrupted by a restart')
  expect(world.gateway.approvals).toMatchObject([{ status: 'pending', isLeft: true }])
})

test('arguments that a person changed are those of the engine’s own call, and the model is told', async () => {
  await using world = await openTurnWorld({ gate: 'ask' })
  const prompt = world.gateway.tell('look')
  world.play(OWN, say('Seen.'))
  world.host().wake()
  const edited_json = JSON.stringify({ path: '.', depth: 1 })
  world.gateway.decide(await asked(world), { status: 'approved', decision: 'approve', edited_json })
  await world.idle()
  expect(prompt.outcome?.message).toBe('Seen.')
  expect(outputOf(world)).toContain(`It was made with: ${edited_json}`)
})
