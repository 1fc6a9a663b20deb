import { AgentId, ApprovalId, CallCancelled, ToolError, type ToolInput } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { GatewayCall } from '../gateway-calls.ts'
import { PersonAsker, type Question } from './person-asker.ts'

const APPROVAL = ApprovalId.parse(`apr_${'0'.repeat(26)}`)
const CLAIM = { agent_id: AgentId.parse(`agt_${'0'.repeat(26)}`), claim_id: '1' }
const QUESTION: Question = {
  kind: 'tool',
  mount: 'files',
  mount_version: 1,
  name: 'write',
  arguments_json: '{}',
  caller: 'c',
  reason: 'r',
  policy: '',
  rule: null,
  layer: null,
  askers: ['default'],
  approvers: [],
}
const PENDING = { approval_id: APPROVAL, status: 'pending', decision: null, reason: null, by: null, edited_json: null } as const

const AGAIN = { refusalOf: () => undefined }

test('what people allow meanwhile lets through who waits for just that, and nobody else', async () => {
  const steps: string[] = []
  const call = ((name: string, input: unknown) => {
    if (name === 'host.ask') return Promise.resolve({ ...PENDING, adopted: false, expires_at: new Date().toISOString() })
    if (name === 'host.approval_step') {
      steps.push((input as ToolInput<'host.approval_step'>).step)
      return Promise.resolve({ ok: true, status: 'withdrawn' })
    }
    const { wait_ms } = input as ToolInput<'host.approvals'>
    return wait_ms === 0 ? Promise.resolve({ items: [PENDING] }) : new Promise(() => undefined)
  }) as GatewayCall
  const ended = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal: ended.signal, log: () => undefined })
  let isAllowed = false
  const said = asker.decide(QUESTION, ended.signal, { ...AGAIN, isSettled: () => isAllowed })
  await new Promise((resolve) => setImmediate(resolve))
  asker.allowancesChanged()
  isAllowed = true
  asker.allowancesChanged()
  expect(await said).toEqual({ kind: 'changed' })
  expect(steps).toEqual(['withdraw'])
})

test('a yes that made a rule, which changes the policies, is dispatched and not taken back', async () => {
  const steps: string[] = []
  const call = ((name: string, input: unknown) => {
    if (name === 'host.ask') return Promise.resolve({ ...PENDING, adopted: false, expires_at: new Date().toISOString() })
    if (name === 'host.approval_step') {
      steps.push((input as ToolInput<'host.approval_step'>).step)
      return Promise.resolve({ ok: true, status: 'dispatched' })
    }
    const { wait_ms } = input as ToolInput<'host.approvals'>
    const items = [{ ...PENDING, status: 'approved', decision: 'approve_rule', by: 'ada' }]
    return wait_ms === 0 ? Promise.resolve({ items }) : new Promise(() => undefined)
  }) as GatewayCall
  const { signal } = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal, log: () => undefined })
  const said = asker.decide(QUESTION, signal, { ...AGAIN, isSettled: () => false })
  await new Promise((resolve) => setImmediate(resolve))
  asker.policiesChanged()
  expect(await said).toEqual({ kind: 'allow', approval: APPROVAL })
  expect(steps).toEqual(['dispatch'])
})

test('a step that is not written down is tried again for as long as the agent is held', async () => {
  const tries = [new Error('cut'), new ToolError('lease_lost', 'this claim does not hold it any more'), undefined]
  const waits: (() => void)[] = []
  const done = Promise.withResolvers<string>()
  const call = ((_name: string, input: unknown) => {
    const failure = tries.shift()
    if (failure !== undefined) return Promise.reject(failure)
    done.resolve((input as ToolInput<'host.approval_step'>).step)
    return Promise.resolve({ ok: true, status: 'returned' })
  }) as GatewayCall
  const timers = { now: () => 0, after: (_ms: number, act: () => void) => (waits.push(act), () => undefined) }
  const asker = new PersonAsker({ claim: CLAIM, call, signal: new AbortController().signal, log: () => undefined, timers })
  asker.settle(APPROVAL, 'returned')
  for (let count = 1; count <= 2; count += 1) {
    await expect.poll(() => waits.length).toBe(count)
    waits.at(-1)?.()
  }
  expect(await done.promise).toBe('returned')
})

test('policies that change while somebody is being asked are not missed: it is taken back, and asked anew', async () => {
  const answered = Promise.withResolvers<object>()
  const steps: string[] = []
  const call = ((name: string, input: unknown) => {
    if (name === 'host.ask') return answered.promise
    if (name === 'host.approval_step') steps.push((input as ToolInput<'host.approval_step'>).step)
    return Promise.resolve(name === 'host.approval_step' ? { ok: true, status: 'withdrawn' } : { items: [PENDING] })
  }) as GatewayCall
  const { signal } = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal, log: () => undefined })
  const said = asker.decide(QUESTION, signal, { ...AGAIN, isSettled: () => false })
  asker.policiesChanged()
  answered.resolve({ ...PENDING, adopted: false, expires_at: new Date().toISOString() })
  expect(await said).toEqual({ kind: 'changed' })
  expect(steps).toEqual(['withdraw'])
})

test.each([
  { what: 'cancels', why: new CallCancelled(), isLetGo: false, step: 'withdraw' },
  { what: 'is cut off', why: new Error('gone'), isLetGo: false, step: 'leave' },
  { what: 'is stopped because the agent is let go of', why: new CallCancelled(), isLetGo: true, step: 'leave' },
])('of a caller that $what the approval hears $step', async ({ why, isLetGo, step }) => {
  const steps: string[] = []
  const call = ((name: string, input: unknown) => {
    if (name === 'host.ask') return Promise.resolve({ ...PENDING, adopted: false, expires_at: new Date().toISOString() })
    if (name !== 'host.approval_step') return new Promise(() => undefined)
    steps.push((input as ToolInput<'host.approval_step'>).step)
    return Promise.resolve({ ok: true, status: null })
  }) as GatewayCall
  const caller = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal: new AbortController().signal, log: () => undefined })
  const said = asker.decide(QUESTION, caller.signal, { ...AGAIN, isSettled: () => false })
  await new Promise((resolve) => setImmediate(resolve))
  if (isLetGo) asker.letGo()
  caller.abort(why)
  await expect(said).rejects.toThrow('whoever called is gone')
  expect(steps).toEqual([step])
})

test('a call that is made again waits until it is written down that nobody waits for the first, and one beside it says so', async () => {
  const steps = Promise.withResolvers<object>()
  const asked: unknown[] = []
  const call = ((name: string, input: unknown) => {
    if (name === 'host.approval_step') return steps.promise
    if (name !== 'host.ask') return new Promise(() => undefined)
    asked.push((input as ToolInput<'host.ask'>).attended)
    return Promise.resolve({ ...PENDING, adopted: false, expires_at: new Date().toISOString() })
  }) as GatewayCall
  const { signal } = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal, log: () => undefined })
  const decide = (caller: AbortSignal) => asker.decide(QUESTION, caller, { ...AGAIN, isSettled: () => false })
  const caller = new AbortController()
  const cut = decide(caller.signal)
  await expect.poll(() => asked).toEqual([[]])
  caller.abort(new Error('gone'))
  void decide(signal)
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([[]])
  steps.resolve({ ok: true, status: 'pending' })
  await expect(cut).rejects.toThrow('whoever called is gone')
  await expect.poll(() => asked).toEqual([[], []])
  void decide(signal)
  await expect.poll(() => asked).toEqual([[], [], [APPROVAL]])
})

test('who is cut off while the same call is being asked about is written down after that, and cannot undo what it takes up', async () => {
  const said: string[] = []
  const asking = Promise.withResolvers<object>()
  const call = ((name: string, input: unknown) => {
    if (name === 'host.approval_step') {
      said.push((input as ToolInput<'host.approval_step'>).step)
      return Promise.resolve({ ok: true, status: 'pending' })
    }
    if (name !== 'host.ask') return new Promise(() => undefined)
    said.push('ask')
    const answer = { ...PENDING, adopted: false, expires_at: new Date().toISOString() }
    return said.length === 1 ? Promise.resolve(answer) : asking.promise.then(() => answer)
  }) as GatewayCall
  const { signal } = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal, log: () => undefined })
  const decide = (caller: AbortSignal) => asker.decide(QUESTION, caller, { ...AGAIN, isSettled: () => false })
  const caller = new AbortController()
  const cut = decide(caller.signal)
  await expect.poll(() => said).toEqual(['ask'])
  void decide(signal)
  await expect.poll(() => said).toEqual(['ask', 'ask'])
  caller.abort(new Error('gone'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(said).toEqual(['ask', 'ask'])
  asking.resolve({})
  await expect(cut).rejects.toThrow('whoever called is gone')
  expect(said).toEqual(['ask', 'ask', 'leave'])
})

test('where two wait for one approval, both are told, and one of them sends the call', async () => {
  const decided = Promise.withResolvers<object>()
  const call = ((name: string) => {
    if (name === 'host.ask') return Promise.resolve({ ...PENDING, adopted: true, expires_at: new Date().toISOString() })
    if (name === 'host.approval_step') return Promise.resolve({ ok: true, status: 'dispatched' })
    return decided.promise
  }) as GatewayCall
  const { signal } = new AbortController()
  const asker = new PersonAsker({ claim: CLAIM, call, signal, log: () => undefined })
  const both = [1, 2].map(() => asker.decide(QUESTION, signal, { ...AGAIN, isSettled: () => false }))
  await new Promise((resolve) => setImmediate(resolve))
  decided.resolve({ items: [{ ...PENDING, status: 'approved', decision: 'approve', by: 'ada' }] })
  expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(['allow', 'deny'])
})
