import type { GateCall } from '@parley/agent'
import { AgentClaim, type JsonObject, NO_BUDGET, NO_PRICES, TOOLS } from '@parley/protocol'
import { readPolicy } from '@parley/policy'
import { expect, test } from 'vitest'
import { AgentGate } from '../ask/agent-gate.ts'
import { CallLog } from '../call-log.ts'
import { EngineCalls } from './engine-calls.ts'
import { ScriptedGateway } from './fixture/scripted-gateway.ts'
import { OwnCalls } from './own-calls.ts'

const CLAIM = AgentClaim.parse({ agent_id: `agt_${'0'.repeat(26)}`, claim_id: '7' })
const NEVER = new AbortController().signal
const shell = (more: Partial<GateCall> = {}): GateCall => ({
  conversation: 'c',
  call: 'c1',
  mount: null,
  tool: 'shell',
  arguments: { command: ['git', 'status'], workdir: null, timeout_ms: null },
  isAgain: false,
  sending: () => Promise.resolve(),
  ...more,
})
const command = (...argv: string[]): JsonObject => ({ command: argv, workdir: null, timeout_ms: null })

/** The calls of an agent whose policy denies `rm` and asks about the rest. */
function openOwnCalls() {
  const read = readPolicy(
    '[[rule]]\nname = "no-rm"\ncommand = "rm"\ndecision = "deny_continue"\nreason = "nothing is removed here"\n',
  )
  if (read.kind !== 'policy') throw new TypeError('the policy cannot be read')
  const spec = TOOLS['host.agent_get'].output.parse({
    agent_id: CLAIM.agent_id,
    name: 'mine',
    kind: 'local',
    owner: 'ann',
    instructions: '',
    model: 'm',
    engine: null,
    version: 1,
    mounts: [],
    subscriptions: [],
    rest: null,
    calls_offset: 0,
    transcript_offset: 0,
    gate: 'ask',
    policies: [{ layer: 'agent', version: 1, sha256: 'no-rm', document_json: JSON.stringify(read.policy) }],
    policy: 'agent:1',
    allowances: [],
    counted: [],
    counted_from: 0,
    private_http: false,
    folder_refused: null,
    folder_granted: null,
  })
  const gateway = new ScriptedGateway(CLAIM, spec, () => ({
    base_url: '',
    api_key: '',
    model: 'm',
    upstream_channel: 'main',
    wire: 'responses',
    expires_at: new Date().toISOString(),
    budget: NO_BUDGET,
    prices: NO_PRICES,
    context_tokens: null,
    script: false,
  }))
  const of = { claim: CLAIM, call: gateway.call, signal: NEVER }
  const ignore = (): void => undefined
  const gate = new AgentGate({
    ...of,
    log: ignore,
    spec,
    refresh: () => Promise.resolve(),
    versionOf: () => null,
    now: Date.now,
  })
  const engineCalls = new EngineCalls()
  const calls = new CallLog({ ...of, offset: 0, failed: ignore })
  return { gateway, engineCalls, own: new OwnCalls({ gate, engineCalls, calls, now: Date.now }) }
}

test.each([
  ['another command', command('git', 'log'), { kind: 'allow', arguments: command('git', 'log') }],
  [
    'a program that the policies deny',
    command('rm', '-r', '.'),
    { kind: 'deny', reason: expect.stringContaining('nothing is removed') },
  ],
  [
    'what follows from the command',
    { ...command('git', 'log'), argv: ['git', 'log'] },
    { kind: 'deny', reason: expect.stringContaining('argv follows') },
  ],
])('a person makes of a command %s', async (_name, edited, decision) => {
  const { gateway, own } = openOwnCalls()
  const decided = own.decide(shell(), NEVER)
  await expect.poll(() => gateway.approvals.length).toBe(1)
  const [approval] = gateway.approvals
  gateway.decide(approval, { status: 'approved', decision: 'approve', edited_json: JSON.stringify(edited) })
  expect(await decided).toMatchObject(decision)
  expect(approval?.status).toBe(decision.kind === 'allow' ? 'dispatched' : 'withdrawn')
})

test('what was let through is written down as sent before the engine hears so', async () => {
  const { gateway, own } = openOwnCalls()
  const { promise: written, resolve } = Promise.withResolvers<void>()
  let isDecided = false
  const decided = Promise.resolve(own.decide(shell({ sending: () => written }), NEVER)).then(() => (isDecided = true))
  await expect.poll(() => gateway.approvals.length).toBe(1)
  gateway.decide(gateway.approvals[0], { status: 'approved', decision: 'approve' })
  await expect.poll(() => gateway.calls.length).toBe(1)
  expect(isDecided).toBe(false)
  resolve()
  await decided
})

test('calls of mounts are decided later, and only an engine of ours is believed what it calls them', async () => {
  const { own, engineCalls } = openOwnCalls()
  let sent = 0
  const asked = shell({ mount: 'agent', tool: 'kit_echo', isAgain: true, sending: () => Promise.resolve(void (sent += 1)) })
  expect(await own.decide(asked, NEVER)).toEqual({ kind: 'allow', isLater: true })
  // What the compositor does itself, and what changes something, is sent when it is called.
  expect(await own.decide({ ...asked, call: 'c2', tool: 'policy_propose' }, NEVER)).toEqual({ kind: 'allow' })
  const stranger = { caller: { key: 'tok_1' }, engineCall: 'c1' }
  const engine = { caller: { key: 'engine' }, engineCall: 'c1' }
  expect([engineCalls.isAgain(stranger), engineCalls.isAgain(engine)]).toEqual([false, true])
  await engineCalls.sending(stranger)
  expect(sent).toBe(0)
  await engineCalls.sending(engine)
  expect(sent).toBe(1)
  own.heard({ type: 'tool_end', call: 'c1', status: 'completed', result: null, error: null, durationMs: 1 })
  expect(engineCalls.sending(engine)).toBeUndefined()
})
