import { cursorOf, hashText, mintToken, pageOf, readCursor } from '@parley/access'
import { TOOLS, type Token, TokenId, type ToolArguments, ToolError, iso, isoOrNull } from '@parley/protocol'
import type { TokenRecord, UserRecord } from '@parley/store'
import { type AccountWorld, serveTool } from './account-world.ts'
import { checkMaker, endOf, makerOf } from './made-by-token.ts'
import { tellRevokedWith } from './revoked-with.ts'

type CreateArguments = ToolArguments<'token.create'>

function tokenView(token: TokenRecord): Token {
  return {
    id: token.id,
    role: token.role,
    name: token.name,
    user_id: token.userId,
    agent_id: token.agentId,
    scopes: token.scopes === null ? null : [...token.scopes],
    made_by: token.madeBy,
    created_at: iso(token.createdAt),
    expires_at: isoOrNull(token.expiresAt),
    revoked_at: isoOrNull(token.revokedAt),
    last_used_at: isoOrNull(token.lastUsedAt),
  }
}

/** A page of the tokens, newest first; the cursor is the time and the id of the last one of the page before. */
export async function tokenPage(
  world: Pick<AccountWorld, 'store'>,
  page: Parameters<AccountWorld['store']['tokens']['list']>[0],
) {
  const found = await world.store.tokens.list({ ...page, limit: page.limit + 1 })
  const { items, next } = pageOf(found, page.limit, cursorOf)
  return { items: items.map(tokenView), next_cursor: next }
}

export const tokenCreate = serveTool(TOOLS['token.create'], async (args, context) => {
  checkFields(args)
  checkMaker(args, context.caller)
  const { store, now, random } = context.world
  const owner = args.role === 'user' ? await ownerOf(context.world, args.username) : undefined
  checkScopes(args, owner)
  const expiresAt = endOf(args.ttl_seconds === undefined ? undefined : now() + args.ttl_seconds * 1000, context.caller)
  const madeBy = makerOf(context.caller)
  const text = mintToken(args.role, random)
  const record = await store.tokens.add({
    hash: hashText(text),
    role: args.role,
    name: args.name ?? args.username ?? args.agent_id ?? args.role,
    ...(owner === undefined ? {} : { userId: owner.id }),
    ...(args.agent_id === undefined ? {} : { agentId: args.agent_id }),
    ...(args.scopes === undefined ? {} : { scopes: args.scopes }),
    ...(madeBy === undefined ? {} : { madeBy }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
  context.target = record.id
  return { token: text, id: record.id, role: record.role, expires_at: isoOrNull(record.expiresAt) }
})

export const tokenList = serveTool(TOOLS['token.list'], ({ cursor, limit }, { world }) =>
  tokenPage(world, cursor === undefined ? { limit } : { ...readCursor(cursor, TokenId, 'token.list'), limit }),
)

export const tokenRevoke = serveTool(TOOLS['token.revoke'], async ({ id }, context) => {
  context.target = id
  const record = await context.world.store.tokens.revoke(id)
  if (record === undefined || record.revokedAt === null)
    throw new ToolError('not_found', `there is no token ${id}`, { field: 'id' })
  await tellRevokedWith(record, context)
  return { id: record.id, revoked_at: iso(record.revokedAt), also_revoked: record.also.length }
})

/** What each role's token needs, and what makes no sense with it. */
const FIELDS = {
  user: { needs: 'username', refuses: ['agent_id'] },
  judge: { needs: 'name', refuses: ['username', 'agent_id'] },
  agent: { needs: 'agent_id', refuses: ['username'] },
  host: { needs: 'name', refuses: ['username', 'agent_id'] },
  executor: { needs: 'name', refuses: ['username', 'agent_id'] },
} as const

function checkFields(args: CreateArguments): void {
  const { needs, refuses } = FIELDS[args.role]
  if (args[needs] === undefined)
    throw new ToolError('invalid_argument', `${needs} is needed for role ${args.role}`, { field: needs })
  for (const field of refuses)
    if (args[field] !== undefined)
      throw new ToolError('invalid_argument', `${field} does not go with role ${args.role}`, { field })
}

function checkScopes({ role, scopes }: CreateArguments, owner: UserRecord | undefined): void {
  if (scopes === undefined) return
  const wrong = (words: string): ToolError => new ToolError('invalid_argument', words, { field: 'scopes' })
  if (owner === undefined)
    throw wrong(`scopes do not go with role ${role}: they limit a user's token, and its role says what any other may do`)
  if (scopes.includes('admin') && !owner.admin)
    throw wrong(`the scope admin is for tokens of admins, and ${owner.username} is none`)
}

async function ownerOf(world: AccountWorld, username: string | undefined): Promise<UserRecord> {
  const user = username === undefined ? undefined : await world.store.users.byName(username)
  if (user === undefined) throw new ToolError('not_found', `there is no user ${username}`, { field: 'username' })
  if (user.disabled) throw new ToolError('conflict', `${username} is disabled`, { field: 'username', hint: 'user.enable first' })
  return user
}
