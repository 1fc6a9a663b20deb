import type { Approvers } from '@parley/protocol'

/** Where a policy does not say who. */
export const ANYBODY: Approvers = { users: [], admins: true, owner: true, needed: 1, sign_in: false }

/** Somebody who wants to decide about a call of an agent. */
export interface Decider {
  readonly username: string
  readonly admin: boolean
  /** Whether the agent is theirs. */
  readonly owns: boolean
  /** Whether they signed in, rather than came with a token. */
  readonly signedIn: boolean
}

/** Whether somebody may decide: all policies that ask must have them among their approvers. */
export function mayDecide(asking: readonly Approvers[], { username, admin, owns, signedIn }: Decider): boolean {
  return (
    asking.length > 0 &&
    asking.every(
      ({ users, admins, owner, sign_in: signIn }) =>
        (signedIn || !signIn) && (users.includes(username) || (admins && admin) || (owner && owns)),
    )
  )
}

/** How many different people must say yes. */
export const approvalsNeeded = (asking: readonly Approvers[]): number => Math.max(1, ...asking.map(({ needed }) => needed))
