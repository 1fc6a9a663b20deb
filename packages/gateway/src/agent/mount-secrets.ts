import { type AgentId, type JsonObject, ServerSpec, ToolError, parseJson } from '@parley/protocol'
import type { Sealer } from '@parley/models'
import type { NewMount } from '@parley/store'

const MASKED = '••••'

/** A mount as it is kept: sealed, and beside it what people are shown. */
export function sealedMount(
  sealer: Sealer,
  id: AgentId,
  { name, server, options }: Pick<NewMount, 'name' | 'options'> & { readonly server: ServerSpec },
): NewMount {
  return {
    name,
    sealed: sealer.seal(sealName(id, name), JSON.stringify(server)),
    shown: JSON.stringify(maskedServer(server)),
    options,
  }
}

/** The specification with its secrets. Throws where it was sealed with another secret. */
export function openedMount(sealer: Sealer, id: AgentId, { name, sealed }: Pick<NewMount, 'name' | 'sealed'>): ServerSpec {
  const text = sealer.open(sealName(id, name), sealed)
  if (text === undefined) throw new ToolError('unavailable', `the mount ${name} cannot be opened with this PARLEY_SECRET`)
  return ServerSpec.parse(parseJson(text))
}

/** Names stay, values do not: any of them may be a secret, and so may a password or a query in a URL. */
function maskedServer(server: ServerSpec): JsonObject {
  const masked = (values: readonly { readonly name: string }[]): JsonObject[] =>
    values.map(({ name }) => ({ name, value: MASKED }))
  if (server.kind === 'stdio') return { ...server, args: [...server.args], place: { ...server.place }, env: masked(server.env) }
  return { ...server, url: maskedUrl(server.url), headers: masked(server.headers) }
}

function maskedUrl(text: string): string {
  const url = new URL(text)
  if (url.password !== '') url.password = MASKED
  for (const name of url.searchParams.keys()) url.searchParams.set(name, MASKED)
  return url.href
}

const sealName = (id: AgentId, name: string): string => `mount/${id}/${name}`
