import type { OptionSpec } from '@parley/command-line'

/** For every command whose result a program may read. */
export const JSON_OPTION = { json: { doc: 'prints the result as one line of JSON' } } as const satisfies Record<
  string,
  OptionSpec
>
