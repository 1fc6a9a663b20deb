import { type ResourceSpec, RpcError, type Scope, ToolError, type ToolSpec, readsOnly, scopesFor } from '@parley/protocol'
import type { GatewayCaller } from './caller.ts'

type Bearer = Pick<GatewayCaller, 'admin' | 'scopes' | 'username'>

/**
 * The caller as a tool or a resource meets them. What an admin may do with other people's things takes the scope `admin`, and what an admin
 * may see of them that or `read`: so an admin's token for jobs is for the admin's own.
 */
export function withinScopes<Who extends Bearer>(caller: Who, use: 'read' | 'change'): Who {
  const { admin, scopes } = caller
  if (!admin || scopes === null || hasAdmin(caller) || (use === 'read' && scopes.includes('read'))) return caller
  return { ...caller, admin: false }
}

/** Whether the scopes leave somebody the rights that their account has. */
export const hasAdmin = ({ admin, scopes }: Pick<Bearer, 'admin' | 'scopes'>): boolean =>
  admin && (scopes === null || scopes.includes('admin'))

/** Told to whoever may do something by their account, and not by this token. */
export function toolOutOfScope(spec: Pick<ToolSpec, 'name' | 'annotations' | 'scopes'>, caller: Bearer): ToolError {
  const needed = scopesFor(spec, readsOnly(spec))
  return new ToolError('forbidden', outOfScope(spec.name, needed, caller), { hint: wayOut(needed, caller) })
}

/** A resource that a token leaves out is not listed, and so not found; but the words say why. */
export function resourceOutOfScope(uri: string, spec: ResourceSpec, caller: Bearer): RpcError {
  const needed = scopesFor(spec, true)
  const words = `${outOfScope(spec.uri, needed, caller)}; ${wayOut(needed, caller)}`
  return new RpcError('resource_not_found_legacy', words, { uri, scopes: [...needed] })
}

/** What is missing for something that is no tool. */
export const outOfScope = (what: string, needed: readonly Scope[], { scopes }: Pick<Bearer, 'scopes'>): string =>
  `${what} needs ${needed.length === 0 ? 'a sign-in or a token without scopes' : `the scope ${needed.join(' or ')}`}; this token has ${(scopes ?? []).join(', ')}`

function wayOut(needed: readonly Scope[], { username }: Pick<Bearer, 'username'>): string {
  const [scope] = needed
  const limited = scope === undefined ? '' : ` --scope ${scope}`
  return `a token keeps its scopes; parley token create --role user --user ${username ?? 'NAME'}${limited} makes another`
}
