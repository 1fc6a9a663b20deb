import * as z from 'zod'
import { UserId } from '../ids.ts'
import { ADDS, ENDS, READS, SETS, tool } from '../tool.ts'
import { Password } from './account.ts'

export const Username = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, dot, dash, underscore, and start with a letter or digit')

/** A person as an identity provider knows them: `iss` and `sub` of its tokens. */
const ExternalIdentity = z.strictObject({ issuer: z.string().min(1).max(256), subject: z.string().min(1).max(256) })

/** A person's account. Disabled ones keep their history and cannot sign in. */
export const User = z.object({
  id: UserId,
  username: Username,
  admin: z.boolean(),
  disabled: z.boolean(),
  created_at: z.iso.datetime(),
  last_sign_in_at: z.iso.datetime().nullable(),
  /** Whom an identity provider's tokens must name to be this person's. */
  identity: ExternalIdentity.nullable().default(null),
})
export type User = z.infer<typeof User>

export const userAdd = tool({
  name: 'user.add',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Adds an account. Without a password the person signs in by a one-time link (`user.link`).',
  input: z.strictObject({ username: Username, password: Password.optional(), admin: z.boolean().default(false) }),
  output: z.object({ user: User }),
  annotations: ADDS,
})

export const userList = tool({
  name: 'user.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The accounts, by name.',
  input: z.strictObject({ cursor: z.string().max(256).optional(), limit: z.int().min(1).max(500).default(100) }),
  output: z.object({ items: z.array(User), next_cursor: z.string().nullable() }),
  annotations: READS,
})

export const userDisable = tool({
  name: 'user.disable',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Disables an account: its tokens and sign-ins end, live connections are cut, jobs that wait or run are cancelled (`owner_disabled`).',
  input: z.strictObject({ username: Username }),
  output: z.object({ user: User, cancelled_jobs: z.int().default(0) }),
  annotations: ENDS,
})

export const userEnable = tool({
  name: 'user.enable',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Enables a disabled account again. Tokens that were revoked stay revoked.',
  input: z.strictObject({ username: Username }),
  output: z.object({ user: User }),
  annotations: SETS,
})

export const userPromote = tool({
  name: 'user.promote',
  roles: ['admin'],
  doc: 'Makes a user an admin. Their connections are cut, so that they come back with their new rights.',
  input: z.strictObject({ username: Username }),
  output: z.object({ user: User }),
  annotations: SETS,
})

export const userDemote = tool({
  name: 'user.demote',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Makes an admin a user like any other; not oneself, and not the last admin. Their connections are cut.',
  input: z.strictObject({ username: Username }),
  output: z.object({ user: User }),
  annotations: SETS,
})

export const userDelete = tool({
  name: 'user.delete',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Deletes an account for good; not one’s own, and not the last admin’s. Tokens, sign-ins and quota go, connections are cut, jobs that wait or run are cancelled; those that ended stay for admins until they expire. The name is free again.',
  input: z.strictObject({ username: Username }),
  output: z.object({ user_id: UserId, username: Username, cancelled_jobs: z.int() }),
  annotations: ENDS,
})

export const userPasswd = tool({
  name: 'user.passwd',
  roles: ['admin'],
  doc: "Sets somebody's password; every sign-in, one-time link and token of theirs ends. `keep_tokens` leaves the tokens.",
  input: z.strictObject({ username: Username, password: Password, keep_tokens: z.boolean().default(false) }),
  output: z.object({ user: User }),
  annotations: SETS,
})

export const userSetIdentity = tool({
  name: 'user.set_identity',
  roles: ['admin'],
  doc: 'Says whom an identity provider means by this person (`iss` and `sub` of its tokens), an admin too; null: nobody. Connections that came by another identity are cut.',
  input: z.strictObject({ username: Username, identity: ExternalIdentity.nullable() }),
  output: z.object({ user: User }),
  annotations: SETS,
})

export const userLink = tool({
  name: 'user.link',
  roles: ['admin'],
  doc: 'Makes a one-time sign-in link, good for 15 minutes and one use.',
  input: z.strictObject({ username: Username }),
  output: z.object({ url: z.string(), expires_at: z.iso.datetime() }),
  annotations: ADDS,
})
