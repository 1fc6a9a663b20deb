/** Any JSON value. `undefined` members are allowed on the way in and vanish on the way out. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** True for plain JSON objects: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses text; `undefined` is never JSON, so it stands for "could not be parsed". */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isParsed(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What `JSON.parse` gives is JSON; the check only tells the compiler. */
function isParsed(value: unknown): value is JsonValue {
  return value !== undefined
}
