import { isJsonObject, type JsonValue } from '@parley/protocol/wire'

/** Which parameter `Mcp-Name` repeats, by method. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** The argument that a header repeats: what stands at the end of a path of properties. */
export function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let here = value
  for (const key of path) here = isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined
  return here
}
