import { type JsonObject, isJsonObject } from '@parley/protocol'

/** Fills in the defaults of a form for every field that the answer leaves out. */
export function applyElicitationDefaults(requestedSchema: unknown, content: JsonObject): JsonObject {
  if (!isJsonObject(requestedSchema) || !isJsonObject(requestedSchema.properties)) return content
  const filled: JsonObject = { ...content }
  for (const [name, field] of Object.entries(requestedSchema.properties)) {
    if (filled[name] === undefined && isJsonObject(field) && field.default !== undefined) filled[name] = field.default
  }
  return filled
}
