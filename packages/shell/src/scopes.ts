import { EVERY_SCOPE, type HeldScopes, type Role, Scope } from '@parley/protocol'
import { type OptionSpec, type Values, usageError } from '@parley/command-line'

export const SCOPE_OPTION = {
  scope: {
    doc: 'for --role user: what it may do, and nothing else; again for more (default: all that the user may)',
    value: 'SCOPE',
    choices: EVERY_SCOPE,
    repeats: true,
  },
} as const satisfies Record<string, OptionSpec>

export const SCOPE_NOTE =
  'Scopes: jobs, agents, approvals (what decides: approvals and policies), read (whatever only reads), admin (for the token of an admin). They stay as they are: another token has others.'

/** The scopes that were asked for, as `token.create` takes them. */
export function scopesIn(values: Values, role: string | undefined): { readonly scopes?: Scope[] } {
  const given = values.all('scope')
  if (given.length === 0) return {}
  if (role !== 'user') throw usageError('--scope goes with --role user alone', 'what any other token may do is its role')
  return { scopes: [...new Set(given.map((scope) => Scope.parse(scope)))] }
}

/** What a token is limited to, in a list. What is no user's is limited by its role alone. */
export const scopesText = ({ role, scopes }: { readonly role: Role; readonly scopes: HeldScopes }): string =>
  role === 'user' ? (scopes?.join(' ') ?? 'all') : ''
