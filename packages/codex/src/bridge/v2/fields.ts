import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

/** Fields of what Codex sends, read one by one: versions add and drop some of them, and none of that may break a turn. */
export function textOf(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}

export function textOrNull(object: JsonObject, key: string): string | null {
  const value = object[key]
  return typeof value === 'string' ? value : null
}

export function numberOrNull(object: JsonObject, key: string): number | null {
  const value = object[key]
  return typeof value === 'number' ? value : null
}

/** An empty one where there is none. */
export function objectOf(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

export function objectOrNull(object: JsonObject, key: string): JsonObject | null {
  const value = object[key]
  return isJsonObject(value) ? value : null
}

function listOf(object: JsonObject, key: string): readonly JsonValue[] {
  const value = object[key]
  return Array.isArray(value) ? value : []
}

export const objectsIn = (object: JsonObject, key: string): readonly JsonObject[] => listOf(object, key).filter(isJsonObject)

export const textsIn = (object: JsonObject, key: string): readonly string[] =>
  listOf(object, key).filter((value) => typeof value === 'string')

export const asObject = (value: JsonValue): JsonObject => (isJsonObject(value) ? value : {})
