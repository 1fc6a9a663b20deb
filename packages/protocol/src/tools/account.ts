import * as z from 'zod'
import { TokenId, UserId } from '../ids.ts'
import { Role } from '../roles.ts'
import { EVERY_SCOPE, Scope } from '../scopes.ts'
import { READS, SETS, tool } from '../tool.ts'

/** A password as typed: long enough to resist guessing, short enough that hashing it cannot be used to stall us. */
export const Password = z.string().min(10, 'must have at least 10 characters').max(256, 'must have at most 256 characters')

export const accountGet = tool({
  name: 'account.get',
  roles: ['user', 'judge', 'host', 'executor'],
  scopes: EVERY_SCOPE,
  doc: 'Who the token says you are: role, user, rights, scopes, when the token ends.',
  input: z.strictObject({}),
  output: z.object({
    role: Role,
    /** Whether you see as an admin. What an admin may change takes the scope `admin` as well, where there are scopes. */
    admin: z.boolean(),
    user_id: UserId.nullable(),
    /** The account that you act for; on the local socket that is the oldest admin's. */
    username: z.string().nullable(),
    /** What the audit log calls you. */
    name: z.string(),
    token_id: TokenId.nullable(),
    /** What the token is limited to; null: by nothing but your rights. */
    scopes: z.array(Scope).nullable(),
    expires_at: z.iso.datetime().nullable(),
  }),
  annotations: READS,
})

export const accountPasswd = tool({
  name: 'account.passwd',
  roles: ['user'],
  doc: 'Sets your own password; every sign-in, one-time link and token of yours ends, this one too. `keep_tokens` leaves the tokens.',
  input: z.strictObject({
    current_password: z.string().max(256),
    new_password: Password,
    keep_tokens: z.boolean().default(false),
  }),
  output: z.object({ user_id: UserId }),
  annotations: SETS,
})
