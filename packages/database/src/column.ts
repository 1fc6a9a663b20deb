import type { Row } from './database.ts'

/** Reads a text column. A wrong type is a bug in a statement, so these throw plain errors. */
export function text(row: Row, name: string): string {
  const value = row[name]
  return typeof value === 'string' ? value : wrong(name, value)
}

export function textOrNull(row: Row, name: string): string | null {
  return row[name] === null ? null : text(row, name)
}

export function integer(row: Row, name: string): number {
  const value = row[name]
  return typeof value === 'number' ? value : wrong(name, value)
}

export function integerOrNull(row: Row, name: string): number | null {
  return row[name] === null ? null : integer(row, name)
}

/** Flags are 0 and 1 on both engines. */
export function flag(row: Row, name: string): boolean {
  return integer(row, name) === 1
}

export function bytes(row: Row, name: string): Uint8Array {
  const value = row[name]
  if (!(value instanceof Uint8Array)) return wrong(name, value)
  // The drivers' classes differ; nothing above should see which one it was.
  return Buffer.isBuffer(value) ? new Uint8Array(value.buffer, value.byteOffset, value.length) : value
}

export function bytesOrNull(row: Row, name: string): Uint8Array | null {
  return row[name] === null ? null : bytes(row, name)
}

function wrong(name: string, value: unknown): never {
  throw new TypeError(`column ${name} holds a ${value === null ? 'null' : typeof value}`)
}
