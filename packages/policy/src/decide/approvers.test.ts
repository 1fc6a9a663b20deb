import { expect, test } from 'vitest'
import { policyOf, TEST_CALL } from '../fixture/test-call.ts'
import { approvalsNeeded, mayDecide } from './approvers.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'

const OWNER = { username: 'ada', admin: false, owns: true, signedIn: true }
const ADMIN = { username: 'root', admin: true, owns: false, signedIn: true }
const BOB = { username: 'bob', admin: false, owns: false, signedIn: true }

const asks = (approvers?: object): object => ({
  rule: [{ name: 'ask', decision: 'ask' }],
  ...(approvers === undefined ? {} : { approvers }),
})
const approversOf = (installation: object, agent: object) =>
  decide(TEST_CALL, [
    { layer: 'installation', policy: compilePolicy(policyOf(installation)) },
    { layer: 'agent', policy: compilePolicy(policyOf(agent)) },
  ]).approvers

test('where no policy says, the owner and any admin may decide', () => {
  const nobody = decide(TEST_CALL, []).approvers
  const asked = approversOf({}, asks())
  for (const asking of [nobody, asked]) {
    expect([OWNER, ADMIN, BOB].map((person) => mayDecide(asking, person))).toEqual([true, true, false])
    expect(approvalsNeeded(asking)).toBe(1)
  }
})

test('where one says, those and nobody else; each policy that asks has its say', () => {
  const asking = approversOf(asks({ users: ['bob'], admins: true }), asks({ users: ['bob', 'ada'], needed: 2 }))
  expect([OWNER, ADMIN, BOB].map((person) => mayDecide(asking, person))).toEqual([false, false, true])
  expect(approvalsNeeded(asking)).toBe(2)
})

test('a policy that does not ask does not choose who decides', () => {
  const asking = approversOf({ rule: [{ name: 'fine', decision: 'allow' }], approvers: { users: ['bob'] } }, asks())
  expect(mayDecide(asking, OWNER)).toBe(true)
})

test('where people must sign in, a token that acts for them does not decide', () => {
  const asking = approversOf(asks({ owner: true, sign_in: true }), {})
  expect([OWNER, { ...OWNER, signedIn: false }].map((person) => mayDecide(asking, person))).toEqual([true, false])
})

test('nobody decides what nobody asked', () => {
  expect(mayDecide([], ADMIN)).toBe(false)
})
