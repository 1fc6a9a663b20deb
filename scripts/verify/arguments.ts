import { parseArgs } from 'node:util'
import { messageOf } from '@parley/protocol/wire'
import { PARTS, type Part } from './part.ts'

export type Asked =
  | { readonly kind: 'run'; readonly parts: readonly Part[]; readonly isChanged: boolean }
  | { readonly kind: 'list' }
  | { readonly kind: 'help'; readonly words: string }
  | { readonly kind: 'wrong'; readonly words: string }

const USAGE = 'npm run verify -- [PART…] [--changed] | --list'

/** Reads the command line. */
export function readArguments(argv: readonly string[]): Asked {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { list: { type: 'boolean' }, changed: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) return { kind: 'help', words: USAGE }
    const unknown = positionals.filter((name) => !PARTS.some((part) => part.name === name))
    if (unknown.length > 0)
      return {
        kind: 'wrong',
        words: `no part is called ${unknown.join(', ')}; there are ${PARTS.map(({ name }) => name).join(', ')}`,
      }
    if (values.list === true) return { kind: 'list' }
    const parts = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    return { kind: 'run', parts, isChanged: values.changed === true }
  } catch (error) {
    return { kind: 'wrong', words: `${messageOf(error)}\n${USAGE}` }
  }
}
