import { AgentId, ApprovalId } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { Kill } from '../agents/kills.ts'
import { ApprovalLedger } from './approval-ledger.ts'
import type { AskedCall, Heard } from './asking-caller.ts'
import { type Effect, checkDoubled, checkEffects, checkHeard, checkOpen, checkReturned, checkUnknown } from './check-approvals.ts'
import type { KeptApproval } from './kept-approval.ts'

const idOf = (nth: number): ApprovalId => ApprovalId.parse(`apr_${String(nth).padStart(26, '0')}`)
const YES = { by: 'ada', decision: 'approve', reason: 'fine' } as const
const NO = { by: 'ada', decision: 'deny_abort', reason: 'never' } as const

/** Asked at 0, approved, sent at 1 s and answered at 2 s, unless it says otherwise. */
const approval = (more: Partial<KeptApproval> = {}): KeptApproval => ({
  id: idOf(1),
  agentId: AgentId.parse(`agt_${'0'.repeat(26)}`),
  asked: 'c',
  edited: undefined,
  status: 'returned',
  decided: YES,
  createdAt: 0,
  expiresAt: 25_000,
  goneAt: undefined,
  dispatchedAt: 1_000,
  endedAt: 2_000,
  ...more,
})
const DENIED = approval({ status: 'denied', decided: NO, dispatchedAt: undefined, endedAt: 1_000 })
const effect = (call: string, at = 1_500): Effect => ({ call, at, host: 0 })

function problemsOf(check: (problem: (text: string) => void) => void): readonly string[] {
  const problems: string[] = []
  check((text) => problems.push(text))
  return problems
}

test.each<[string, KeptApproval[], Effect[], RegExp | undefined]>([
  ['one that was approved', [approval()], [effect('c')], undefined],
  ['an edited one', [approval({ edited: 'c~0' })], [effect('c~0')], undefined],
  ['one that failed without an effect', [approval({ status: 'failed' })], [], undefined],
  ['two effects', [approval()], [effect('c'), effect('c')], /c had 2 effects/],
  ['an effect of a denied one', [DENIED], [effect('c')], /nothing that was let through/],
  ['an effect of one that waits', [approval({ status: 'pending', decided: undefined })], [effect('c')], /nothing that was let/],
  ['an effect of an expired one', [approval({ status: 'expired' })], [effect('c')], /nothing that was let through/],
  [
    'an effect as it was asked of an edited one',
    [approval({ edited: 'c~0' })],
    [effect('c~0'), effect('c')],
    /nothing that was let/,
  ],
  ['an effect before it was sent', [approval()], [effect('c', 500)], /500 ms before it was sent/],
  ['a yes that nobody said', [approval({ decided: undefined })], [effect('c')], /without a yes/],
  ['two that were let through', [approval(), approval({ id: idOf(2) })], [effect('c')], /let through 2 times/],
  ['an answer without an effect', [approval()], [], /returned without an effect/],
])('effects: %s', (_what, approvals, effects, found) => {
  const problems = problemsOf((problem) => {
    checkEffects({ approvals, effects }, problem)
    checkReturned({ approvals, effects }, problem)
  })
  expect(problems).toEqual(found === undefined ? [] : [expect.stringMatching(found)])
})

test.each<[string, KeptApproval, boolean]>([
  ['after the first was denied', DENIED, false],
  ['after the first was sent', approval(), false],
  [
    'after the first ran out',
    approval({ status: 'pending', dispatchedAt: undefined, endedAt: undefined, expiresAt: 4_000 }),
    false,
  ],
  ['while the first waits', approval({ status: 'pending', dispatchedAt: undefined, endedAt: undefined }), true],
  ['while the first is approved and not sent', approval({ dispatchedAt: 9_000, endedAt: 9_000 }), true],
])('a call that is asked about again %s', (_what, first, isDoubled) => {
  const again = approval({ id: idOf(2), createdAt: 5_000, dispatchedAt: 6_000, endedAt: 7_000 })
  const problems = problemsOf((problem) => checkDoubled([again, first], problem))
  expect(problems).toEqual(isDoubled ? [expect.stringContaining(`while ${idOf(1)} was open`)] : [])
})

test('two approvals of one call that are open in one look are found, unless the first has run out', () => {
  const open = { status: 'pending', decided: undefined, dispatchedAt: undefined, endedAt: undefined } as const
  const [first, second] = [approval(open), approval({ ...open, id: idOf(2), createdAt: 5_000, expiresAt: 30_000 })]
  const found = (approvals: readonly KeptApproval[]) => problemsOf((problem) => checkOpen(approvals, problem))
  expect(found([first, second])).toEqual([`c is asked about by ${idOf(1)} and by ${idOf(2)}`])
  expect(found([first, approval({ ...open, id: idOf(2), asked: 'd' })])).toEqual([])
  expect(found([approval({ ...open, expiresAt: 5_000 }), second])).toEqual([])
  // One that is being sent is not found again; one that waits for its caller is.
  expect(found([approval({ ...open, status: 'approved' }), second])).toEqual([])
  expect(found([approval({ ...open, status: 'approved', goneAt: 4_000 }), second])).toHaveLength(1)
})

const UNKNOWN = approval({ status: 'unknown', endedAt: 20_000 })
const kill = (victim: Kill['victim'], at = 1_500, index = 0): Kill => ({ victim, index, at })

test.each<[string, Kill[], Partial<{ isInGateway: boolean; heardAt: number }>, boolean]>([
  ['its host was killed', [kill('host')], {}, true],
  ['the database was killed', [kill('database')], {}, true],
  ['the gateway was killed that has the database in it', [kill('gateway')], { isInGateway: true }, true],
  ['another gateway was killed', [kill('gateway')], {}, false],
  ['its mount was killed', [kill('mount')], {}, false],
  ['another host was killed', [kill('host', 1_500, 1)], {}, false],
  ['its host was killed before', [kill('host', 500)], {}, false],
  ['its host was killed afterwards', [kill('host', 21_000)], {}, false],
  ['its host was killed long after it was answered', [kill('host', 15_000)], { heardAt: 2_000 }, false],
])('unknown when %s', (_what, kills, { isInGateway = false, heardAt }, isRight) => {
  const heard = { kind: 'result', text: '' } as const
  const calls = new Map<string, AskedCall>(heardAt === undefined ? [] : [['c', { name: 'c', tries: 1, heard, heardAt }]])
  const facts = { approvals: [UNKNOWN], effects: [effect('c')], kills, isInGateway }
  const problems = problemsOf((problem) => checkUnknown(facts, calls, problem))
  expect(problems).toHaveLength(isRight ? 0 : 1)
})

const RESULT: Heard = { kind: 'result', text: '[{"text":"done c"}]' }
const EDITED: Heard = { kind: 'result', text: '[{"text":"A person changed the arguments"},{"text":"done c~0"}]' }

test.each<[string, Heard, KeptApproval, boolean]>([
  ['a result', RESULT, approval(), true],
  ['a result of one that is unknown', RESULT, UNKNOWN, true],
  ['a result of a denied one', RESULT, DENIED, false],
  ['a result with edited arguments', EDITED, approval({ edited: 'c~0' }), true],
  ['a result as it was asked of an edited one', RESULT, approval({ edited: 'c~0' }), false],
  ['a denial', { kind: 'denied', isAbort: true, message: 'denied by policy: ada said no: never' }, DENIED, true],
  ['another denial', { kind: 'denied', isAbort: false, message: 'denied by policy: ada said no: never' }, DENIED, false],
  ['a denial by somebody else', { kind: 'denied', isAbort: true, message: 'bob said no: never' }, DENIED, false],
  ['a denial of one that returned', { kind: 'denied', isAbort: true, message: 'ada said no: never' }, approval(), false],
  ['that it ran out', { kind: 'expired' }, approval({ status: 'expired' }), true],
  ['that one ran out that returned', { kind: 'expired' }, approval(), false],
  ['that one was sent already that was not', { kind: 'sent already' }, DENIED, false],
])('a caller hears %s', (_what, heard, kept, isRight) => {
  const calls = new Map<string, AskedCall>([['c', { name: 'c', tries: 1, heard, heardAt: 3_000 }]])
  const facts = { approvals: [kept], effects: [effect('c'), effect('c~0')] }
  expect(problemsOf((problem) => checkHeard(calls, facts, problem))).toHaveLength(isRight ? 0 : 1)
})

test.each<[string, KeptApproval, RegExp]>([
  ['goes back', approval({ status: 'approved' }), /went from returned to approved/],
  ['is decided otherwise later', approval({ decided: { ...YES, by: 'bob' } }), /decided again, otherwise/],
  ['has other arguments later', approval({ edited: 'c~1' }), /decided again, otherwise/],
  ['is about another call later', approval({ asked: 'd' }), /about another call now/],
])('an approval that %s is found', (_what, later, found) => {
  const problems: string[] = []
  const ledger = new ApprovalLedger((text) => problems.push(text))
  ledger.looked(approval())
  ledger.looked(approval())
  expect(problems).toEqual([])
  ledger.looked(later)
  expect(problems).toEqual([expect.stringMatching(found)])
})

test('an approval that is not there any more is found, with its history', () => {
  const problems: string[] = []
  const ledger = new ApprovalLedger((text) => problems.push(text))
  ledger.looked(approval({ status: 'approved', dispatchedAt: undefined, endedAt: undefined }))
  ledger.looked(approval())
  ledger.checkAllIn(new Set([idOf(1)]))
  expect(problems).toEqual([])
  ledger.checkAllIn(new Set())
  expect(problems).toEqual([expect.stringMatching(/is lost\n.*seen: .* approved .*\n.*seen: .* returned /)])
})
