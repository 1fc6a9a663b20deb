import { Grant, type ToolOutput } from '@parley/protocol'
import { agoText, columns } from '@parley/screen'
import { type Invocation, usageError, type Values } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withCaller } from '../../caller/with-caller.ts'

type HeldGrant = ToolOutput<'grant.set'>

const HEADER = ['user', 'unboxed', 'private http', 'folders', 'executors', 'set']

export const grantSet = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const changes = {
    ...switchOf(values, 'unboxed', 'unboxed'),
    ...switchOf(values, 'private-http', 'private_http'),
    ...listOf(values, 'folder', 'folders'),
    ...listOf(values, 'executor', 'executors'),
  }
  const checked = Grant.partial().safeParse(changes)
  if (!checked.success)
    throw usageError(`--${String(checked.error.issues[0]?.path[0]).replace(/s$/, '')} ${checked.error.issues[0]?.message}`)
  if (Object.keys(changes).length === 0) throw usageError('grant set needs something to set', 'parley grant set --help')
  return withCaller(invocation, 'admin', async (caller) => {
    const grant = await caller.call('grant.set', { username: positionals[0] ?? '', ...checked.data })
    return show(invocation, grant, tableOf([grant], invocation))
  })
}

export const grantList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('grant.list', {})
    if (result.items.length === 0 && !invocation.values.has('json')) invocation.io.err('nobody was granted anything\n')
    return show(invocation, result, tableOf(result.items, invocation))
  })

function switchOf(values: Values, option: string, field: string): { readonly [field: string]: boolean } {
  const given = values.text(option)
  return given === undefined ? {} : { [field]: given === 'on' }
}

function listOf(values: Values, option: string, field: string): { readonly [field: string]: readonly string[] } {
  const given = values.all(option)
  if (given.length > 0 && values.has(`no-${field}`)) throw usageError(`--${option} and --no-${field} exclude each other`)
  return given.length > 0 || values.has(`no-${field}`) ? { [field]: given } : {}
}

function tableOf(grants: readonly HeldGrant[], { io }: Pick<Invocation, 'io'>): string {
  const word = (is: boolean): string => (is ? 'on' : 'off')
  const rows = grants.map(({ username, unboxed, private_http, folders, executors, set_at }) => [
    username,
    word(unboxed),
    word(private_http),
    folders.join(' '),
    executors.join(' '),
    agoText(set_at, io),
  ])
  return columns([HEADER, ...rows], io.screen())
}
