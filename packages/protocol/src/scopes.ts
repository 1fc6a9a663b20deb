import * as z from 'zod'

/**
 * What a person's token may be limited to. `read` is whatever only reads, of every noun; `admin` is what an admin's account may do beyond its
 * own things. A token without scopes may do all that its account may.
 */
export const Scope = z.enum(['jobs', 'agents', 'approvals', 'read', 'admin'])
export type Scope = z.infer<typeof Scope>

/** For what every token may know: who it is. */
export const EVERY_SCOPE: readonly Scope[] = Scope.options

/** The scopes of a token; null: it has none, and is not limited by any. */
export type HeldScopes = readonly Scope[] | null

/** Something that says which scopes it takes: any one of them is enough. */
export interface Scoped {
  /** Left out: no scope is enough. Only a sign-in or a token without scopes has it. */
  readonly scopes?: readonly Scope[]
}

/** Each scope once, in the order in which they are listed everywhere. */
export const inOrder = (scopes: readonly Scope[]): readonly Scope[] => Scope.options.filter((scope) => scopes.includes(scope))

/** The scopes of which one is needed. What reads needs no more than `read`. */
export const scopesFor = ({ scopes = [] }: Scoped, reads: boolean): readonly Scope[] =>
  inOrder(reads ? [...scopes, 'read'] : scopes)

/** The one place that says whether a token may use something. */
export const isInScope = (held: HeldScopes, scoped: Scoped, reads: boolean): boolean =>
  held === null || scopesFor(scoped, reads).some((scope) => held.includes(scope))
