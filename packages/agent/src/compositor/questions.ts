import { type JsonObject, RpcError } from '@parley/protocol'
import { type Caller, type InputRequest, missingCapability, type Orphans } from '@parley/rpc'
import { type MountOptions, mayElicit, maySample, ownRoots } from './mount-options.ts'

type Ask<C extends Caller> = NonNullable<Orphans<C>['ask']>
type Question = Parameters<Ask<never>>[0]

/**
 * Answers a question of a legacy server. All clients share the connection that it came on, so it goes to the caller whose call it
 * belongs to or to nobody: it may be about somebody else's secret.
 */
export function askCaller<C extends Caller>(
  options: MountOptions,
  ...[request, flight]: Parameters<Ask<C>>
): Promise<JsonObject> {
  const { method, params, signal } = request
  const roots = method === 'roots/list' ? ownRoots(options) : undefined
  if (roots !== undefined) return Promise.resolve(roots)
  const question = questionOf(request)
  if (question === undefined) return refused(`${method} is nothing that can be asked`)
  const forbidden = forbiddenQuestion(options, question)
  if (forbidden !== undefined) return refused(forbidden)
  if (flight === undefined)
    return refused(`${method} cannot be answered: it belongs to no call, or calls of several clients are under way`)
  const missing = missingCapability(flight.call.client.capabilities, question)
  if (missing !== undefined) return refused(CANNOT_BE_ASKED, { requiredCapabilities: missing })
  if (flight.parked !== undefined) return flight.parked.ask(request)
  if (flight.call.era === 'legacy') return flight.call.ask(method, params, { signal })
  return refused(`${method} cannot be answered in the middle of this call`)
}

/** Whether the compositor answers that by itself, whoever calls. */
export const isOwnAnswer = (options: MountOptions, method: string): boolean =>
  method === 'roots/list' && ownRoots(options) !== undefined

/** Why a mount may not ask that. */
export function forbiddenQuestion(options: MountOptions, { method }: InputRequest): string | undefined {
  if (method === 'elicitation/create' && !mayElicit(options)) return `${options.name} may not ask the person`
  if (method === 'sampling/createMessage' && !maySample(options)) return `${options.name} may not ask the client's model`
  return undefined
}

function questionOf({ method, params }: Question): InputRequest | undefined {
  return method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list'
    ? { method, params }
    : undefined
}

const CANNOT_BE_ASKED = 'the client whose call this is did not declare that it can be asked this'

/** A server that passes it on tells the client which capability it needs. */
function refused(why: string, missing?: JsonObject): Promise<never> {
  return Promise.reject(new RpcError(missing === undefined ? 'method_not_found' : 'missing_client_capability', why, missing))
}
