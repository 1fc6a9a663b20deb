import { AgentId, type Token, TokenId, type ToolInput, type User } from '@parley/protocol'
import type { Admin } from '../admin/admin.ts'
import { openAdmin } from '../admin/open-admin.ts'
import { readPassword } from '../admin/read-password.ts'
import type { Invocation } from '../command-line/command.ts'
import { usageError } from '../command-line/command-error.ts'
import { instanceOf } from '../config/instance.ts'
import { targetOf } from '../target.ts'
import { columns } from './columns.ts'
import { parseDuration } from './duration.ts'

const PAGE = 500
/** More than this is no list for a terminal; by then there is something wrong with paging. */
const PAGES_MAX = 10_000

export async function userAdd(invocation: Invocation): Promise<number> {
  const { values } = invocation
  const username = nameOf(invocation)
  const wantsPassword = values.has('ask-password') || values.has('password-file')
  const password = wantsPassword
    ? await readPassword(invocation.io, { who: username, file: values.text('password-file') })
    : undefined
  return withAdmin(invocation, async (admin) => {
    const { user } = await admin.call('user.add', {
      username,
      admin: values.has('admin'),
      ...(password === undefined ? {} : { password }),
    })
    const link = password === undefined ? await admin.call('user.link', { username }) : undefined
    const text = link === undefined ? '' : `\nSign in by this link. It works once, until ${link.expires_at}:\n  ${link.url}`
    return show(
      invocation,
      { user, sign_in: link?.url ?? null },
      `${user.username} was added as ${user.admin ? 'an admin' : 'a user'}.${text}`,
    )
  })
}

export async function userList(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (admin) => {
    const items = await allPages<User>((cursor) => admin.call('user.list', { limit: PAGE, ...cursor }))
    const rows = items.map((user) => [user.username, stateOf(user), user.last_sign_in_at ?? 'never', user.id])
    return show(invocation, { items }, columns([['name', 'state', 'last sign-in', 'id'], ...rows]))
  })
}

export const userDisable = (invocation: Invocation): Promise<number> =>
  withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.disable', { username: nameOf(invocation) })
    return show(invocation, result, `${result.user.username} is disabled.`)
  })

export const userEnable = (invocation: Invocation): Promise<number> =>
  withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.enable', { username: nameOf(invocation) })
    return show(invocation, result, `${result.user.username} is enabled.`)
  })

export async function userPasswd(invocation: Invocation): Promise<number> {
  const username = nameOf(invocation)
  const password = await readPassword(invocation.io, { who: username, file: invocation.values.text('password-file') })
  return withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.passwd', { username, password })
    return show(invocation, result, `The password of ${username} is set.`)
  })
}

export const userLink = (invocation: Invocation): Promise<number> =>
  withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.link', { username: nameOf(invocation) })
    return show(invocation, result, `${result.url}\nIt works once, until ${result.expires_at}.`)
  })

export async function tokenCreate(invocation: Invocation): Promise<number> {
  const input = tokenInput(invocation)
  return withAdmin(invocation, async (admin) => {
    const { token, id, role, expires_at } = await admin.call('token.create', input)
    return show(
      invocation,
      { token, id, role, expires_at },
      `${token}\n${id}, for a ${role}, ${expires_at === null ? 'until revoked' : `until ${expires_at}`}. It is not shown again.`,
    )
  })
}

export async function tokenList(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (admin) => {
    const items = await allPages<Token>((cursor) => admin.call('token.list', { limit: PAGE, ...cursor }))
    const rows = items.map((token) => [
      token.id,
      token.role,
      token.name,
      tokenState(token, invocation.io.now()),
      token.last_used_at ?? 'never',
    ])
    return show(invocation, { items }, columns([['id', 'role', 'name', 'state', 'last used'], ...rows]))
  })
}

export const tokenRevoke = (invocation: Invocation): Promise<number> => {
  const id = TokenId.safeParse(nameOf(invocation))
  if (!id.success) throw usageError(`ID ${id.error.issues[0]?.message}`, 'parley token list shows the ids')
  return withAdmin(invocation, async (admin) => {
    const result = await admin.call('token.revoke', { id: id.data })
    return show(invocation, result, `${result.id} is revoked.`)
  })
}

async function withAdmin(invocation: Invocation, use: (admin: Admin) => Promise<number>): Promise<number> {
  const admin = await openAdmin(instanceOf(invocation), targetOf(invocation), invocation.io)
  try {
    return await use(admin)
  } finally {
    await admin.close()
  }
}

function show({ io, values }: Invocation, result: object, text: string): number {
  io.out(values.has('json') ? `${JSON.stringify(result)}\n` : `${text}\n`)
  return 0
}

function nameOf({ positionals }: Invocation): string {
  return positionals[0] ?? ''
}

/** What `token.create` needs for each role; said here in the words of the flags. */
function tokenInput({ values }: Invocation): ToolInput<'token.create'> {
  const role = values.text('role')
  const ttl = values.text('ttl')
  const name = values.text('name')
  const common = {
    ...(name === undefined ? {} : { name }),
    ...(ttl === undefined ? {} : { ttl_seconds: parseDuration('--ttl', ttl) }),
  }
  const need = (flag: string): string => {
    const value = values.text(flag)
    if (value === undefined) throw usageError(`--role ${role} needs --${flag}`)
    return value
  }
  if (role === 'user') return { role, username: need('user'), ...common }
  if (role === 'judge') return { role, ...common, name: need('name') }
  if (role === 'agent') {
    const agent = AgentId.safeParse(need('agent'))
    if (!agent.success) throw usageError(`--agent ${agent.error.issues[0]?.message}`)
    return { role, agent_id: agent.data, ...common }
  }
  throw usageError('token create needs --role', 'one of user, judge, agent')
}

async function allPages<Item>(
  page: (cursor: { cursor?: string }) => Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null }>,
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { items, next_cursor } = await page(cursor === undefined ? {} : { cursor })
    all.push(...items)
    if (next_cursor === null) break
    cursor = next_cursor
  }
  return all
}

function stateOf({ admin, disabled }: User): string {
  return disabled ? 'disabled' : admin ? 'admin' : 'user'
}

function tokenState({ revoked_at, expires_at }: Token, now: number): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at === null) return 'good until revoked'
  return Date.parse(expires_at) <= now ? `ended ${expires_at}` : `good until ${expires_at}`
}
