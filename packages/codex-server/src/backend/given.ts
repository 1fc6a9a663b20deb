type Given<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** Without what is null or left out, which mean the same to clients of old. */
export function given<T extends Readonly<Record<string, unknown>>>(fields: T): Given<T>
export function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}
