import { resolve } from 'node:path'
import type { Invocation, OptionSpec } from '@parley/command-line'

/** For judge, host and up. */
export const CODEX_OPTION = {
  codex: { doc: 'the Codex to use, a path or a name (PARLEY_CODEX; default: codex on PATH)', value: 'FILE', isFile: true },
} as const satisfies Record<string, OptionSpec>

export function codexPathOf({ values, io }: Pick<Invocation, 'values' | 'io'>): { readonly codexPath?: string } {
  const path = values.text('codex') ?? io.env['PARLEY_CODEX']
  if (path === undefined || path === '') return {}
  // A name alone is looked for on PATH.
  return { codexPath: path.includes('/') ? resolve(io.cwd, path) : path }
}
