import { type AgentId, type JsonObject, MountSignIn, ServerSpec, ToolError, parseJson } from '@parley/protocol'
import type { Sealer } from '@parley/models'
import type { NewMount } from '@parley/store'
import * as z from 'zod'

const MASKED = '••••'

/** What is sealed: where the server of a mount is, and what a sign-in there gave. */
export interface MountSecrets {
  readonly server: ServerSpec
  readonly signIn: MountSignIn | null
}

/** Those of before there were sign-ins say nothing of them. */
const Sealed = z.looseObject({ sign_in: MountSignIn.nullable().default(null) })

/** A mount as it is kept: sealed, and beside it what people are shown. */
export function sealedMount(
  sealer: Sealer,
  id: AgentId,
  { name, options, ...secrets }: Pick<NewMount, 'name' | 'options'> & MountSecrets,
): NewMount {
  const { server, signIn } = secrets
  const shown = { ...maskedServer(server), ...(signIn === null ? {} : { sign_in: MASKED }) }
  return { name, sealed: sealedSecrets(sealer, id, name, secrets), shown: JSON.stringify(shown), options }
}

export function sealedSecrets(sealer: Sealer, id: AgentId, name: string, { server, signIn }: MountSecrets): string {
  return sealer.seal(sealName(id, name), JSON.stringify({ ...server, sign_in: signIn }))
}

/** The specification with its secrets. Throws where it was sealed with another secret. */
export function openedMount(sealer: Sealer, id: AgentId, mount: Pick<NewMount, 'name' | 'sealed'>): MountSecrets {
  const secrets = readSecrets(sealer, id, mount)
  if (secrets === undefined)
    throw new ToolError('unavailable', `the mount ${mount.name} cannot be opened with this PARLEY_SECRET`)
  return secrets
}

/** A sign-in stays where a mount is attached anew for the same server. */
export function keptSignIn(
  sealer: Sealer,
  id: AgentId,
  before: Pick<NewMount, 'name' | 'sealed'> | undefined,
  server: ServerSpec,
): MountSignIn | null {
  const secrets = before === undefined ? undefined : readSecrets(sealer, id, before)
  if (secrets?.server.kind !== 'http' || server.kind !== 'http' || secrets.server.url !== server.url) return null
  return secrets.signIn
}

function readSecrets(sealer: Sealer, id: AgentId, { name, sealed }: Pick<NewMount, 'name' | 'sealed'>): MountSecrets | undefined {
  const text = sealer.open(sealName(id, name), sealed)
  if (text === undefined) return undefined
  const { sign_in: signIn, ...server } = Sealed.parse(parseJson(text))
  return { server: ServerSpec.parse(server), signIn }
}

/** Names stay, values do not: any of them may be a secret, and so may a user, a password or a query in a URL. */
function maskedServer(server: ServerSpec): JsonObject {
  const masked = (values: readonly { readonly name: string }[]): JsonObject[] =>
    values.map(({ name }) => ({ name, value: MASKED }))
  if (server.kind === 'stdio') return { ...server, args: [...server.args], place: { ...server.place }, env: masked(server.env) }
  return { ...server, url: maskedUrl(server.url), headers: masked(server.headers) }
}

function maskedUrl(text: string): string {
  const url = new URL(text)
  if (url.username !== '') url.username = MASKED
  if (url.password !== '') url.password = MASKED
  const pairs = url.search.slice(1).split('&')
  if (url.search !== '') url.search = pairs.map(maskedPair).join('&')
  if (url.hash !== '') url.hash = MASKED
  return url.href
}

/** Without a name before it, what stands there may be the secret itself. */
function maskedPair(pair: string): string {
  const at = pair.indexOf('=')
  return at < 0 ? MASKED : `${pair.slice(0, at)}=${MASKED}`
}

const sealName = (id: AgentId, name: string): string => `mount/${id}/${name}`
