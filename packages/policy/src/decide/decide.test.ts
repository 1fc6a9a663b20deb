import type { Allowance } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { digestCall } from '../call/digest.ts'
import { callOf, policyOf, TEST_CALL } from '../fixture/test-call.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide, denialCode, type PolicyAnswer } from './decide.ts'
import type { LayerPolicy } from './layer-says.ts'

type Layers = Readonly<Partial<Record<'installation' | 'owner' | 'agent', unknown>>>

function layersOf({ installation, owner, agent }: Layers): readonly LayerPolicy[] {
  return (['installation', 'owner', 'agent'] as const).flatMap((layer) => {
    const value = { installation, owner, agent }[layer]
    return value === undefined ? [] : [{ layer, policy: compilePolicy(policyOf(value)) }]
  })
}

const of = (layers: Layers, parts: Parameters<typeof callOf>[0] = {}, allowances: readonly Allowance[] = []): PolicyAnswer =>
  decide(callOf(parts), layersOf(layers), { allowances })

const all = (decision: string, more: object = {}): object => ({
  rule: [{ name: `all-${decision.replaceAll('_', '-')}`, decision, ...more }],
})

describe('within a policy', () => {
  const policy = {
    rule: [
      { name: 'read', mount: 'files', tool: ['read_*', 'list_*'], when: 'args.path.startsWith("/src/")', decision: 'allow' },
      { name: 'write', mount: 'files', tool: 'write_*', decision: 'deny_abort', reason: 'nothing is written here' },
      { name: 'files', mount: 'files', decision: 'deny_continue' },
    ],
  }

  test('the first rule that matches decides, with its reason', () => {
    expect(of({ agent: policy })).toMatchObject({ decision: 'allow', rule: 'read', layer: 'agent' })
    expect(of({ agent: policy }, { name: 'write_file' })).toMatchObject({
      decision: 'deny_abort',
      rule: 'write',
      reason: 'nothing is written here',
    })
  })

  test('an agent is named by its id, whatever it is called', () => {
    const id = `agt_${'1'.repeat(26)}`
    const held = { rule: [{ name: 'held', agent: id, decision: 'deny_abort' }] }
    const agent = (own: string) => ({ agent: { id: own, name: 'anything', owner: 'ada' } })
    expect(of({ agent: held }, agent(id))).toMatchObject({ decision: 'deny_abort', rule: 'held' })
    expect(of({ agent: held }, agent(`agt_${'2'.repeat(26)}`)).rule).toBeNull()
    expect(of({ agent: held }, { agent: { id: 'agt_x', name: id, owner: 'ada' } }).rule).toBeNull()
  })

  test('a condition that does not hold passes the call on to the next rule, and the trace says so', () => {
    expect(of({ agent: policy }, { arguments: { path: '/etc/passwd' } })).toMatchObject({
      decision: 'deny_continue',
      rule: 'files',
      reason: 'the rule files denies it',
      trace: [{ layer: 'agent', rule: 'files', outcome: 'deny_continue', passedOver: ['read'], delegated: false, shadow: false }],
    })
  })

  test('what no rule covers is asked', () => {
    expect(of({ agent: policy }, { mount: 'other' })).toMatchObject({
      decision: 'ask',
      rule: null,
      layer: null,
      reason: 'no rule covers this call, so a person is asked',
    })
    expect(of({}).decision).toBe('ask')
    expect(of({ agent: { ...policy, deny_unknown: true } }, { mount: 'other' })).toMatchObject({
      decision: 'deny_continue',
      rule: null,
      layer: 'agent',
    })
  })

  test('a condition that fails denies, whatever its rule would have said and whatever comes after it', () => {
    const answer = of({ agent: { rule: [...policy.rule, { name: 'rest', decision: 'allow' }] } }, { arguments: {} })
    expect(answer).toMatchObject({ decision: 'evaluator_error', rule: 'read', layer: 'agent' })
    expect(answer.reason).toBe('the condition of the rule read could not be evaluated: field not found: path')
    expect(denialCode(answer.decision)).toBe('policy_evaluator_error')
  })
})

describe('a rule matches by', () => {
  const matches = (rule: object, parts: Parameters<typeof callOf>[0] = {}): boolean =>
    of({ agent: { rule: [{ name: 'one', decision: 'allow', ...rule }] } }, parts).rule === 'one'

  test('kind and name: a tool’s pattern never matches what is no tool', () => {
    expect(matches({ tool: '*' })).toBe(true)
    for (const kind of ['resource', 'prompt', 'command', 'patch', 'question'] as const)
      expect(matches({ tool: '*' }, { kind, name: 'read-file' })).toBe(false)
    expect(matches({ resource: 'file:///src/*' }, { kind: 'resource', name: 'file:///src/a' })).toBe(true)
    expect(matches({ prompt: 'greet' }, { kind: 'prompt', name: 'greet' })).toBe(true)
    expect(matches({ command: 'git' }, { kind: 'command', name: 'git', mount: null })).toBe(true)
    expect(matches({ kind: ['patch', 'question'] }, { kind: 'patch' })).toBe(true)
    expect(matches({ kind: ['patch', 'question'] })).toBe(false)
  })

  test('mount, and what an engine does itself only by its own word', () => {
    expect(matches({ mount: 'fil*' })).toBe(true)
    expect(matches({ mount: 'file' })).toBe(false)
    expect(matches({ mount: '*' }, { mount: null })).toBe(false)
    expect(matches({ mount: '@engine' }, { mount: null })).toBe(true)
    expect(matches({ mount: '@engine' })).toBe(false)
    expect(matches({}, { mount: null })).toBe(true)
  })

  test('agent, with its owner where the pattern has one', () => {
    expect(matches({ agent: 'help*' })).toBe(true)
    expect(matches({ agent: 'ada/helper' })).toBe(true)
    expect(matches({ agent: 'bob/*' })).toBe(false)
    expect(matches({ agent: ['x', 'ada/*'] })).toBe(true)
  })

  test('caller, by role and name', () => {
    expect(matches({ caller: 'agent:*' })).toBe(true)
    expect(matches({ caller: 'user:helper' })).toBe(false)
    expect(matches({ caller: 'user:ada' }, { caller: { role: 'user', name: 'ada' } })).toBe(true)
  })

  test('annotations; what a server does not say is taken for the worse', () => {
    const rule = { mount: 'files', annotations: { readOnlyHint: true } }
    expect(matches(rule, { annotations: { readOnlyHint: true } })).toBe(true)
    for (const annotations of [undefined, {}, { readOnlyHint: false }, { readOnlyHint: 'true' }, { readOnlyHint: 1 }])
      expect(matches(rule, { annotations })).toBe(false)
    expect(matches({ mount: 'files', annotations: { destructiveHint: true } })).toBe(true)
    expect(matches({ mount: 'files', annotations: { openWorldHint: false } })).toBe(false)
  })

  test('counts: so many calls, and then no more', () => {
    const rule = { counts: { turn: 2, hour: 10 } }
    expect(matches(rule, { counts: { turn: 1, hour: 9, day: 999 } })).toBe(true)
    expect(matches(rule, { counts: { turn: 2, hour: 0, day: 0 } })).toBe(false)
    expect(matches(rule, { counts: { turn: 0, hour: 10, day: 10 } })).toBe(false)
    expect(matches({ counts: { day: 0 } })).toBe(false)
    expect(matches({ when: 'counts.day < 5' }, { counts: { turn: 0, hour: 0, day: 5 } })).toBe(false)
  })
})

describe('across layers', () => {
  test.each<[string, string, string, string]>([
    ['allow', 'allow', 'allow', 'allow'],
    ['allow', 'ask', 'allow', 'ask'],
    ['allow', 'ask', 'deny_continue', 'deny_continue'],
    ['deny_continue', 'allow', 'allow', 'deny_continue'],
    ['deny_continue', 'deny_abort', 'allow', 'deny_abort'],
    ['deny_abort', 'ask', 'deny_continue', 'deny_abort'],
  ])('%s, %s and %s make %s', (installation, owner, agent, decision) => {
    expect(of({ installation: all(installation), owner: all(owner), agent: all(agent) }).decision).toBe(decision)
  })

  test('a layer without a rule for the call leaves it to the others', () => {
    const other = { rule: [{ name: 'other', mount: 'other', decision: 'deny_abort' }] }
    expect(of({ installation: other, owner: all('allow'), agent: other })).toMatchObject({ decision: 'allow', layer: 'owner' })
  })

  test('what an upper rule delegates a lower one decides, and without one it stands', () => {
    const asks = all('ask', { delegate: true })
    const other = { rule: [{ name: 'other', mount: 'other', decision: 'allow' }] }
    expect(of({ installation: asks, agent: all('allow') })).toMatchObject({
      decision: 'allow',
      layer: 'agent',
      trace: [
        { layer: 'installation', outcome: 'ask', delegated: true },
        { layer: 'agent', outcome: 'allow' },
      ],
    })
    expect(of({ installation: asks, owner: other })).toMatchObject({ decision: 'ask', layer: 'installation' })
    expect(of({ installation: asks, owner: all('ask'), agent: all('allow') })).toMatchObject({ decision: 'ask', layer: 'owner' })
    expect(of({ installation: asks, owner: asks, agent: all('allow') }).decision).toBe('allow')
    expect(of({ installation: all('ask'), owner: asks, agent: all('allow') })).toMatchObject({
      decision: 'ask',
      layer: 'installation',
    })
    // It delegates downwards alone.
    expect(of({ installation: all('allow'), agent: asks })).toMatchObject({ decision: 'ask', layer: 'agent' })
  })

  test('a condition that fails in a lower layer denies; an upper denial that ends the turn goes before it', () => {
    const fails = { rule: [{ name: 'fails', when: 'args.none == 1', decision: 'allow' }] }
    expect(of({ installation: all('allow'), agent: fails }).decision).toBe('evaluator_error')
    expect(of({ installation: all('ask', { delegate: true }), agent: fails }).decision).toBe('evaluator_error')
    expect(of({ installation: all('deny_abort'), agent: fails }).decision).toBe('deny_abort')
    expect(of({ installation: fails, agent: all('deny_continue') }).decision).toBe('evaluator_error')
  })

  test('the order in which layers are handed in does not matter', () => {
    const layers = layersOf({ installation: all('ask', { delegate: true }), agent: all('allow') })
    expect(decide(TEST_CALL, layers.toReversed()).decision).toBe('allow')
  })
})

describe('an allowance', () => {
  const allowance: Allowance = {
    id: 'alw_1',
    agent_id: 'agt_1',
    session: null,
    kind: 'tool',
    mount: 'files',
    mount_version: 3,
    name: 'read_file',
    digest: null,
    answers: ['owner', 'default'],
    expires_at: '2026-11-18T11:00:00Z',
  }
  const asked = { owner: all('ask') }

  test('answers what its layers ask, and what no rule covers', () => {
    expect(of(asked, {}, [allowance])).toMatchObject({
      decision: 'allow',
      allowances: ['alw_1'],
      rule: 'all-ask',
      layer: 'owner',
    })
    expect(of({}, {}, [allowance]).decision).toBe('allow')
    expect(of({}, {}, [{ ...allowance, answers: ['owner'] }]).decision).toBe('ask')
    expect(of({ installation: all('ask'), ...asked }, {}, [allowance]).decision).toBe('ask')
    const upper = { ...allowance, id: 'alw_2', answers: ['installation' as const] }
    expect(of({ installation: all('ask'), ...asked }, {}, [allowance, upper])).toMatchObject({ allowances: ['alw_2', 'alw_1'] })
  })

  test('never loosens a denial, nor what cannot be evaluated', () => {
    const every = { ...allowance, answers: ['installation', 'owner', 'agent', 'default'] } satisfies Allowance
    for (const decision of ['deny_continue', 'deny_abort'])
      for (const layer of ['installation', 'owner', 'agent'])
        expect(of({ ...asked, [layer]: all(decision) }, {}, [every]).decision).toBe(decision)
    expect(of({ ...asked, agent: { deny_unknown: true } }, {}, [every]).decision).toBe('deny_continue')
    expect(of({ agent: all('allow', { when: 'args.none' }) }, {}, [every]).decision).toBe('evaluator_error')
  })

  test.each<[string, Partial<Allowance>, Parameters<typeof callOf>[0]]>([
    ['of another agent', { agent_id: 'agt_2' }, {}],
    ['of another session', { session: 'session-2' }, {}],
    ['of a session, when there is none', { session: 'session-1' }, { session: null }],
    ['of another kind', { kind: 'prompt' }, {}],
    ['of another mount', { mount: null }, {}],
    ['of the mount before it changed', {}, { mountVersion: 4 }],
    ['of another tool', {}, { name: 'write_file' }],
    ['that has expired', {}, { now: Date.parse('2026-11-18T11:00:00Z') }],
    ['whose end cannot be read', { expires_at: 'tomorrow' }, {}],
    ['of another digest', { digest: 'f'.repeat(64) }, {}],
  ])('%s counts for nothing', (_, parts, call) => {
    expect(of(asked, call, [{ ...allowance, ...parts }]).decision).toBe('ask')
  })

  test('of one call covers that call alone', () => {
    const made = digestCall(TEST_CALL)
    const once = { ...allowance, session: 'session-1', digest: made.kind === 'digest' ? made.digest : null }
    expect(of(asked, {}, [once]).decision).toBe('allow')
    expect(of(asked, { arguments: { path: '/src/main.ts', more: 1 } }, [once]).decision).toBe('ask')
    expect(of(asked, { arguments: { id: 2 ** 60 } }, [once]).decision).toBe('ask')
  })
})

describe('in shadow', () => {
  test('a policy decides and is not enforced', () => {
    const answer = of({ owner: all('allow'), agent: { ...all('deny_abort'), shadow: true } })
    expect(answer).toMatchObject({
      decision: 'allow',
      layer: 'owner',
      shadow: { decision: 'deny_abort', rule: 'all-deny-abort', layer: 'agent' },
      trace: [{ shadow: false }, { shadow: true, outcome: 'deny_abort' }],
    })
    expect(of({ agent: { ...all('allow'), shadow: true } })).toMatchObject({ decision: 'ask', shadow: { decision: 'allow' } })
    expect(of({ owner: all('allow') }).shadow).toBeNull()
  })

  test('it takes the place of the enforced one of its layer, and a failure in it denies nothing', () => {
    const now = { layer: 'agent', policy: compilePolicy(policyOf(all('deny_abort'))) } as const
    const next = { layer: 'agent', policy: compilePolicy(policyOf({ ...all('allow'), shadow: true })) } as const
    expect(decide(TEST_CALL, [now, next])).toMatchObject({ decision: 'deny_abort', shadow: { decision: 'allow' } })
    const fails = { ...all('ask', { when: 'args.none' }), shadow: true }
    expect(of({ owner: all('allow'), agent: fails })).toMatchObject({
      decision: 'allow',
      shadow: { decision: 'evaluator_error' },
    })
  })
})

describe('questions of servers', () => {
  const toPerson = callOf({ kind: 'question', name: 'elicitation/create', arguments: { message: 'sure?' } })
  const toModel = callOf({ kind: 'question', name: 'sampling/createMessage', arguments: { messages: [] } })
  const about = (rules: Layers, uncovered: 'allow' | 'ask' | 'deny' = 'ask') =>
    [toPerson, toModel].map((call) => decide(call, layersOf(rules), { uncovered }).decision)

  test('to a person nobody else is asked about, by a rule or because there is none; to a model they are decided like calls', () => {
    expect(about({})).toEqual(['allow', 'ask'])
    expect(about({}, 'deny')).toEqual(['allow', 'deny_continue'])
    expect(about({ owner: all('ask') })).toEqual(['allow', 'ask'])
    expect(about({ installation: { deny_unknown: true } })).toEqual(['deny_continue', 'deny_continue'])
  })

  test('what is denied is denied, whoever would answer', () => {
    for (const decision of ['deny_continue', 'deny_abort'])
      expect(about({ installation: all('ask'), owner: all(decision, { kind: 'question' }) })).toEqual([decision, decision])
    expect(about({ agent: all('allow', { when: 'args.missing == "x"' }) })).toEqual(['evaluator_error', 'evaluator_error'])
    expect(of({}, { kind: 'tool', name: 'elicitation/create' }).decision).toBe('ask')
  })
})

describe('it never throws and never allows by mistake', () => {
  test('a resource whose URI leads elsewhere is denied before any rule', () => {
    const rules = { agent: { rule: [{ name: 'src', resource: 'file:///src/*', decision: 'allow' }] } }
    expect(of(rules, { kind: 'resource', name: 'file:///src/a' }).decision).toBe('allow')
    expect(of(rules, { kind: 'resource', name: 'file:///src/../etc/passwd' })).toMatchObject({
      decision: 'deny_continue',
      rule: null,
    })
  })

  test('a document whose condition is wrong, which no parser let through, fails closed', () => {
    const document = {
      ...policyOf(all('allow')),
      rule: [{ name: 'broken', when: '((', decision: 'allow' as const, delegate: false }],
    }
    expect(decide(TEST_CALL, [{ layer: 'agent', policy: compilePolicy(document) }]).decision).toBe('evaluator_error')
  })

  test('a call that is not what it should be is an answer too', () => {
    const layers = layersOf({ agent: all('allow', { when: 'now > timestamp("2026-01-01T00:00:00Z")' }) })
    for (const parts of [{ now: Number.NaN }, { now: Infinity }, { now: 1e300 }])
      expect(decide(callOf(parts), layers).decision).toBe('evaluator_error')
    const broken = Object.defineProperty({ ...TEST_CALL }, 'kind', {
      get: () => {
        throw new Error('no kind')
      },
    })
    expect(decide(broken, layers)).toMatchObject({
      decision: 'evaluator_error',
      reason: 'the policy could not be evaluated: no kind',
    })
  })

  test('thousands of names by a stranger are decided like the first', () => {
    const layers = layersOf({ agent: { rule: [{ name: 'even', tool: '*0', decision: 'allow' }] } })
    for (let at = 0; at < 5_000; at += 1)
      expect(decide(callOf({ name: `tool ${at}` }), layers).decision).toBe(at % 10 === 0 ? 'allow' : 'ask')
  })
})
