import type { OptionSpec } from '../command-line/command.ts'

/** For every command whose result a program may read. */
export const JSON_OPTION = { json: { doc: 'prints the result as one line of JSON' } } as const satisfies Record<
  string,
  OptionSpec
>
