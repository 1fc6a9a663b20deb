import { isJsonObject, type JsonObject, type JsonValue, parseJson, RpcError } from '@parley/protocol'

export interface ListPage {
  readonly items: readonly JsonObject[]
  readonly nextCursor: string | undefined
}

/**
 * A page of a list. A cursor tells how many entries came before it and which was the last, so that a list that changed meanwhile is
 * gone on with behind that entry wherever it stands now.
 */
export function pageOf(items: readonly JsonObject[], field: string, cursor: JsonValue | undefined, size: number): ListPage {
  const begin = cursor === undefined ? 0 : placeOf(items, field, cursor)
  const end = begin + size
  const last = items[end - 1]?.[field]
  const isLast = end >= items.length || typeof last !== 'string'
  return { items: items.slice(begin, end), nextCursor: isLast ? undefined : writeCursor({ count: end, last }) }
}

function placeOf(items: readonly JsonObject[], field: string, cursor: JsonValue): number {
  const { count, last } = readCursor(cursor)
  if (items[count - 1]?.[field] === last) return count
  const at = items.findIndex((item) => item[field] === last)
  if (at === -1) throw wrongCursor('the list has changed: begin anew without a cursor')
  return at + 1
}

function writeCursor(cursor: { readonly count: number; readonly last: string }): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

function readCursor(cursor: JsonValue): { readonly count: number; readonly last: string } {
  const read = typeof cursor === 'string' ? parseJson(Buffer.from(cursor, 'base64url').toString()) : undefined
  if (!isJsonObject(read) || typeof read.count !== 'number' || typeof read.last !== 'string')
    throw wrongCursor('cursor is not one that this server gave')
  return { count: read.count, last: read.last }
}

function wrongCursor(why: string): RpcError {
  return new RpcError('invalid_params', why, { field: 'cursor' })
}
