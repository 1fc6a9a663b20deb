import type { Invocation } from './command.ts'

/** Prints a result: as text for people, as one line of JSON for programs. */
export function show({ io, values }: Pick<Invocation, 'io' | 'values'>, result: object, text: string): number {
  io.out(values.has('json') ? `${JSON.stringify(result)}\n` : `${text}\n`)
  return 0
}
