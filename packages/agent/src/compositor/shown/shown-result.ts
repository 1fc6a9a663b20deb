import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'

/** What only the gate may say: whoever reads it must be able to trust it. */
export const POLICY_META = 'parley/policy'

/**
 * A result as clients see it: URIs that they may read back are shown as in the lists, and no `_meta` in it passes for a word of
 * the gate, which speaks nowhere else in a result. The same object where nothing is to be changed, so that its text can go on as
 * it came.
 */
export function shownResult(method: string, result: JsonObject, uri: (uri: string) => string): JsonObject {
  const honest = withoutPolicy(result)
  switch (method) {
    case 'tools/call':
      return withList(honest, 'content', (part) => shownPart(part, uri))
    case 'resources/read':
      return withList(honest, 'contents', (part) => withUri(withoutPolicy(part), uri))
    case 'prompts/get':
      return withList(honest, 'messages', (message) => shownMessage(message, uri))
    default:
      return honest
  }
}

/** A message holds one part, or several. */
function shownMessage(message: JsonObject, uri: (uri: string) => string): JsonObject {
  const honest = withoutPolicy(message)
  const { content } = honest
  if (Array.isArray(content)) return withList(honest, 'content', (part) => shownPart(part, uri))
  if (!isJsonObject(content)) return honest
  const shown = shownPart(content, uri)
  return shown === content ? honest : { ...honest, content: shown }
}

/** A link to a resource, or a resource in the middle of other content; anything else names none. */
function shownPart(part: JsonObject, uri: (uri: string) => string): JsonObject {
  const honest = withoutPolicy(part)
  if (honest.type === 'resource_link') return withUri(honest, uri)
  if (honest.type !== 'resource' || !isJsonObject(honest.resource)) return honest
  const resource = withUri(withoutPolicy(honest.resource), uri)
  return resource === honest.resource ? honest : { ...honest, resource }
}

function withUri(part: JsonObject, uri: (uri: string) => string): JsonObject {
  if (typeof part.uri !== 'string') return part
  const shown = uri(part.uri)
  return shown === part.uri ? part : { ...part, uri: shown }
}

/** Without the word of the gate in its `_meta`. */
export function withoutPolicy(part: JsonObject): JsonObject {
  const { _meta } = part
  if (!isJsonObject(_meta) || !Object.hasOwn(_meta, POLICY_META)) return part
  const { [POLICY_META]: _forged, ...kept } = _meta
  return { ...part, _meta: kept }
}

function withList(holder: JsonObject, key: string, show: (part: JsonObject) => JsonObject): JsonObject {
  const parts: JsonValue | undefined = holder[key]
  if (!Array.isArray(parts)) return holder
  const shown = parts.map((part) => (isJsonObject(part) ? show(part) : part))
  return shown.every((part, index) => part === parts[index]) ? holder : { ...holder, [key]: shown }
}
