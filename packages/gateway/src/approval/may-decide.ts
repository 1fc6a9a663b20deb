import { type GatewayCaller, isLocal, nameOf } from '@parley/access'
import { ToolError } from '@parley/protocol'
import { ANYBODY, approvalsNeeded, mayDecide } from '@parley/policy'
import type { ApprovalRecord } from '@parley/store'

export type ApprovalPerson = Pick<
  GatewayCaller,
  'admin' | 'key' | 'name' | 'scopes' | 'signInId' | 'tokenId' | 'userId' | 'username'
>

type Asked = Pick<ApprovalRecord, 'approvers' | 'ownerId'>

const askingOf = ({ approvers }: Asked) => (approvers.length === 0 ? [ANYBODY] : approvers)

export const neededFor = (approval: Asked): number => approvalsNeeded(askingOf(approval))

/** Whether somebody is among those whom the policies that ask have named. */
export function isApprover(approval: Asked, caller: ApprovalPerson): boolean {
  return mayDecide(askingOf(approval), {
    username: nameOf(caller),
    admin: caller.admin,
    owns: caller.userId !== null && approval.ownerId === caller.userId,
    signedIn: isPerson(caller),
  })
}

/** Whether it is a person who signed in, or sits at the machine, rather than a token that acts for them. */
const isPerson = (caller: ApprovalPerson): boolean => caller.signInId !== null || isLocal(caller)

/** Who decided, for those who look later: a token is named as one. */
export const deciderName = (caller: ApprovalPerson): string =>
  isPerson(caller) || caller.tokenId === null ? nameOf(caller) : `${nameOf(caller)} (token ${caller.tokenId})`

/** An approval is seen by the agent's owner, by admins, and by those who are named as its approvers. */
export const maySee = (approval: Asked, { admin, userId, username }: ApprovalPerson): boolean =>
  admin ||
  (userId !== null && approval.ownerId === userId) ||
  (username !== null && approval.approvers.some(({ users }) => users.includes(username)))

export function checkApprover(approval: Asked, caller: ApprovalPerson): void {
  if (isApprover(approval, caller)) return
  const { approvers } = approval
  const named = [...new Set(approvers.flatMap(({ users }) => users))]
  const who = named.length === 0 ? '' : `: ${named.join(', ')} may`
  const needsSignIn = approvers.some(({ sign_in: signIn }) => signIn) && !isPerson(caller)
  throw new ToolError(
    'forbidden',
    needsSignIn ? 'a person must decide this: sign in, and not by a token' : `it is not yours to decide${who}`,
    {
      field: 'approval_id',
    },
  )
}
