import * as z from 'zod'
import { AgentId, TokenId, UserId } from '../ids.ts'
import { Role } from '../roles.ts'
import { EVERY_SCOPE, Scope } from '../scopes.ts'
import { ADDS, ENDS, READS, tool } from '../tool.ts'
import { Username } from './user.ts'

const TokenName = z.string().min(1).max(128)

/** A token as it is listed: never its secret, which is shown once, when it is made. */
export const Token = z.object({
  id: TokenId,
  role: Role,
  name: z.string(),
  user_id: UserId.nullable(),
  agent_id: AgentId.nullable(),
  /** What it is limited to; null: by nothing but the rights of whoever has it. */
  scopes: z.array(Scope).nullable(),
  /** The token with scopes that made it, and with which it ends; null where a sign-in, the admin socket or a token without scopes did. */
  made_by: TokenId.nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
})
export type Token = z.infer<typeof Token>

export const tokenCreate = tool({
  name: 'token.create',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Mints a token: for a user (`username`), a worker (a judge, host or executor: `name`) or an agent (`agent_id`). A user’s may be limited to `scopes`, for good; without them it may do all that its user may. Its text is in this answer and nowhere else.',
  input: z.strictObject({
    role: Role,
    username: Username.optional(),
    name: TokenName.optional(),
    agent_id: AgentId.optional(),
    scopes: z.array(Scope).min(1).max(EVERY_SCOPE.length).optional(),
    ttl_seconds: z
      .int()
      .min(1)
      .max(10 * 365 * 86_400)
      .optional(),
  }),
  output: z.object({ token: z.string(), id: TokenId, role: Role, expires_at: z.iso.datetime().nullable() }),
  annotations: ADDS,
})

export const tokenList = tool({
  name: 'token.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The tokens, newest first, without their secrets.',
  input: z.strictObject({ cursor: z.string().max(256).optional(), limit: z.int().min(1).max(500).default(100) }),
  output: z.object({ items: z.array(Token), next_cursor: z.string().nullable() }),
  annotations: READS,
})

export const tokenRevoke = tool({
  name: 'token.revoke',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Ends a token, and with a token that has scopes all that were made with it; their live connections are cut within a second.',
  input: z.strictObject({ id: TokenId }),
  output: z.object({
    id: TokenId,
    revoked_at: z.iso.datetime(),
    /** How many others ended with it now. */
    also_revoked: z.int(),
  }),
  annotations: ENDS,
})
