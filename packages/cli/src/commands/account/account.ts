import { AgentId, type Token, TokenId, type ToolInput, type ToolOutput } from '@parley/protocol'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { askYes, canAsk, parseDuration, show } from '@parley/command-line/commands'
import type { Admin } from '../../admin/admin.ts'
import { openAdmin } from '../../admin/open-admin.ts'
import { readPassword } from '../../admin/read-password.ts'
import { scopesIn, scopesText } from '@parley/shell'
import { agoText, columns, timeText } from '@parley/screen'
import { instanceOf } from '../../config/instance.ts'
import { findId, startOfId } from '../../caller/find-id.ts'
import { allItems } from '../../caller/items-of.ts'
import { targetOf } from '../../option/target.ts'
import { showNewToken } from './show-new-token.ts'
import { oneRole } from '../../wording/one-role.ts'

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
    const text =
      link === undefined
        ? ''
        : `\nSign in by this link. It works once, until ${timeText(link.expires_at, invocation.io)}:\n  ${link.url}`
    return show(
      invocation,
      { user, sign_in: link?.url ?? null },
      `${user.username} was added as ${user.admin ? 'an admin' : 'a user'}.${text}`,
    )
  })
}

export async function userList(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (admin) => {
    const items = await allItems((from) => admin.call('user.list', { limit: PAGE, ...from }), PAGES_MAX)
    const rows = items.map((user) => [
      user.username,
      user.admin ? 'admin' : 'user',
      user.disabled ? 'disabled' : 'enabled',
      momentOf(user.last_sign_in_at, invocation),
      user.id,
    ])
    const headings = ['name', 'role', 'state', 'last sign-in', 'id']
    return show(invocation, { items }, columns([headings, ...rows], invocation.io.screen()))
  })
}

export const userDisable = (invocation: Invocation): Promise<number> =>
  withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.disable', { username: nameOf(invocation) })
    const jobs = result.cancelled_jobs === 0 ? '' : ` ${countOf(result.cancelled_jobs, 'job')} cancelled.`
    return show(invocation, result, `${result.user.username} is disabled.${jobs}`)
  })

export const userEnable = sets('user.enable', 'is enabled')
export const userPromote = sets('user.promote', 'is an admin')
export const userDemote = sets('user.demote', 'is no admin any more')

function sets(tool: 'user.enable' | 'user.promote' | 'user.demote', words: string): (invocation: Invocation) => Promise<number> {
  return (invocation) =>
    withAdmin(invocation, async (admin) => {
      const result = await admin.call(tool, { username: nameOf(invocation) })
      return show(invocation, result, `${result.user.username} ${words}.`)
    })
}

/** What cannot be undone is asked for twice. */
export async function userDelete(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const username = nameOf(invocation)
  if (!values.has('yes')) {
    if (!canAsk(io)) throw usageError(`user delete ${username} cannot be undone`, '--yes does it without asking')
    const question = `Delete ${username} for good, and cancel the jobs of that account?`
    if (!(await askYes(io, question, 'no'))) throw new CommandError('interrupted', 'nothing was deleted', { exitCode: 130 })
  }
  return withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.delete', { username })
    const jobs = result.cancelled_jobs === 0 ? '' : ` ${countOf(result.cancelled_jobs, 'job')} cancelled.`
    return show(invocation, result, `${result.username} is deleted.${jobs}`)
  })
}

const countOf = (count: number, noun: string): string => (count === 1 ? `1 ${noun} was` : `${count} ${noun}s were`)

export async function userPasswd(invocation: Invocation): Promise<number> {
  const username = nameOf(invocation)
  const password = await readPassword(invocation.io, { who: username, file: invocation.values.text('password-file') })
  return withAdmin(invocation, async (admin) => {
    const keepTokens = invocation.values.has('keep-tokens')
    const result = await admin.call('user.passwd', { username, password, keep_tokens: keepTokens })
    const ended = keepTokens
      ? 'Sign-ins and links of that user have ended; tokens are as they were.'
      : 'Sign-ins, links and tokens of that user have ended, and tokens of their agents; --keep-tokens would have left the tokens.'
    return show(invocation, result, `The password of ${username} is set. ${ended}`)
  })
}

export async function userSetIdentity(invocation: Invocation): Promise<number> {
  const username = nameOf(invocation)
  const issuer = invocation.values.text('issuer')
  const subject = invocation.values.text('subject')
  const removes = invocation.values.has('remove')
  const isWhole = issuer !== undefined && subject !== undefined
  if (removes ? issuer !== undefined || subject !== undefined : !isWhole)
    throw usageError('user set-identity needs --issuer and --subject, or --remove')
  const identity = isWhole ? { issuer, subject } : null
  return withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.set_identity', { username, identity })
    const words = isWhole ? `${username} is ${subject} of ${issuer}.` : `${username} has no identity at a provider any more.`
    return show(invocation, result, words)
  })
}

export const userLink = (invocation: Invocation): Promise<number> =>
  withAdmin(invocation, async (admin) => {
    const result = await admin.call('user.link', { username: nameOf(invocation) })
    return show(invocation, result, `${result.url}\nIt works once, until ${timeText(result.expires_at, invocation.io)}.`)
  })

export async function tokenCreate(invocation: Invocation): Promise<number> {
  const input = tokenInput(invocation)
  return withAdmin(invocation, (admin) => {
    const make = async () => {
      const { token, id, role, expires_at } = await admin.call('token.create', input)
      return { token, id, role, expires_at, ...(input.scopes && { scopes: input.scopes }) }
    }
    return showNewToken(invocation, make, ({ id, role, expires_at, scopes }) => {
      const until = expires_at === null ? 'until revoked' : `until ${timeText(expires_at, invocation.io)}`
      const only = scopes === undefined ? '' : ` with ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(', ')}`
      return `${id} is ${oneRole(role)}'s token for ${holderOf(input)}${only}, good ${until}.`
    })
  })
}

const holderOf = (input: ToolInput<'token.create'>): string => input.username ?? input.agent_id ?? input.name ?? input.role

export async function tokenList(invocation: Invocation): Promise<number> {
  return withAdmin(invocation, async (admin) => {
    const items = await allTokens(admin)
    const rows = items.map((token) => [
      token.id,
      token.role,
      token.name,
      scopesText(token),
      tokenState(token, invocation),
      momentOf(token.last_used_at, invocation),
      token.made_by ?? '',
    ])
    return show(invocation, { items }, columns([TOKEN_COLUMNS, ...rows], invocation.io.screen(), { mayGo: ['made by'] }))
  })
}

export const tokenRevoke = (invocation: Invocation): Promise<number> => {
  const given = nameOf(invocation)
  startOfId(TOKEN, given)
  return withAdmin(invocation, async (admin) => {
    const all = await allTokens(admin)
    const page = () => Promise.resolve({ items: all.map(({ id, name }) => ({ id, about: name })), next_cursor: null })
    const id = await findId({ ...TOKEN, whole: (text) => TokenId.safeParse(text).data, page }, given)
    const wasRevoked = all.some((token) => token.id === id && token.revoked_at !== null)
    const result = await admin.call('token.revoke', { id })
    return show(invocation, result, `${result.id} ${wasRevoked ? 'was revoked already' : 'is revoked'}${madeText(result)}.`)
  })
}

const madeText = ({ also_revoked: also }: ToolOutput<'token.revoke'>): string =>
  also === 0 ? '' : `, and so ${also === 1 ? 'is the token that was' : `are the ${also} tokens that were`} made with it`

const TOKEN_COLUMNS = ['id', 'role', 'name', 'scopes', 'state', 'last used', 'made by']
const TOKEN = { noun: 'token', what: 'ID', prefix: 'tok_', list: 'parley token list' } as const

const allTokens = (admin: Admin): Promise<readonly Token[]> =>
  allItems((from) => admin.call('token.list', { limit: PAGE, ...from }), PAGES_MAX)

async function withAdmin(invocation: Invocation, use: (admin: Admin) => Promise<number>): Promise<number> {
  const admin = await openAdmin(instanceOf(invocation), targetOf(invocation), invocation.io)
  try {
    return await use(admin)
  } finally {
    await admin.close()
  }
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
    ...scopesIn(values, role),
    ...(ttl === undefined ? {} : { ttl_seconds: parseDuration('--ttl', ttl) }),
  }
  const need = (flag: string): string => {
    const value = values.text(flag)
    if (value === undefined) throw usageError(`--role ${role} needs --${flag}`)
    return value
  }
  if (role === 'user') return { role, username: need('user'), ...common }
  if (role === 'judge' || role === 'host' || role === 'executor') return { role, ...common, name: need('name') }
  if (role === 'agent') {
    const agent = AgentId.safeParse(need('agent'))
    if (!agent.success)
      throw usageError(`--agent ${agent.error.issues[0]?.message}`, 'parley agent token NAME makes one for an agent by its name')
    return { role, agent_id: agent.data, ...common }
  }
  throw usageError('token create needs --role', 'one of user, judge, host, executor, agent')
}

function tokenState({ revoked_at, expires_at }: Token, { io }: Invocation): string {
  if (revoked_at !== null) return `revoked ${agoText(revoked_at, io)}`
  if (expires_at === null) return 'until revoked'
  return `${Date.parse(expires_at) <= io.now() ? 'ended' : 'until'} ${timeText(expires_at, io)}`
}

const momentOf = (iso: string | null, { io }: Invocation): string => (iso === null ? 'never' : agoText(iso, io))
