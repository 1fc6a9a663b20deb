import { ToolError, type ToolName } from '@parley/protocol'
import type * as z from 'zod'

/** A page of a list of which one more was asked for than it holds; while there are more, `next` says where to go on. */
export function pageOf<Item, Next>(
  found: readonly Item[],
  limit: number,
  nextOf: (last: Item) => Next,
): { readonly items: readonly Item[]; readonly next: Next | null } {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? nextOf(last) : null }
}

/** The cursor of a list that is newest first: when the last one of a page was made, and its id. */
export const cursorOf = ({ createdAt, id }: { readonly createdAt: number; readonly id: string }): string => `${createdAt}.${id}`

/** Where such a cursor goes on. Throws `ToolError` `invalid_argument` for one that the tool never gave. */
export function readCursor<Schema extends z.ZodType<string>>(
  cursor: string,
  schema: Schema,
  tool: ToolName,
): { readonly beforeCreatedAt: number; readonly beforeId: z.output<Schema> } {
  const dot = cursor.indexOf('.')
  const id = schema.safeParse(cursor.slice(dot + 1))
  if (!id.success || !/^\d{1,15}$/.test(cursor.slice(0, Math.max(0, dot))))
    throw new ToolError('invalid_argument', `cursor is not one that ${tool} gave`, { field: 'cursor' })
  return { beforeCreatedAt: Number(cursor.slice(0, dot)), beforeId: id.data }
}
