import { parseJson } from '@parley/protocol'
import { InvalidArgument } from './errors.ts'

/** What reads a column back; the same has passed it before it was written, so that no row is ever unreadable. */
export interface Shape<T> {
  parse(value: unknown): T
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: Error }
}

/** A value as JSON text; what could not be read back is refused. */
export function toJson<T>(field: string, shape: Shape<T>, value: unknown): string {
  const read = shape.safeParse(value)
  if (!read.success) throw new InvalidArgument(field, `cannot be stored: ${read.error.message}`)
  return JSON.stringify(read.data)
}

/** Reads JSON text back. */
export function fromJson<T>(shape: Shape<T>, column: string | null): T | null {
  return column === null ? null : shape.parse(parseJson(column))
}

/** Reads an id back, or any other text of a known shape. */
export function parsedOrNull<T>(shape: Shape<T>, column: string | null): T | null {
  return column === null ? null : shape.parse(column)
}
