import { CHAT_LIMITS } from '@parley/protocol'
import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import type { ChatFrom } from './read-chat.ts'

const LAST_USUAL = 20
const READER_CHARS = 64
const READER = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** Where it begins, and under which name it is remembered how far was read. */
export const CHAT_OPTIONS = {
  last: { doc: `begins with the last so many messages (default ${LAST_USUAL})`, value: 'N' },
  since: { doc: 'begins after the message of this number', value: 'N' },
  unread: { doc: 'begins where this reader was before' },
  reader: { doc: 'the name under which it is remembered how far you have read (default shell-HOSTNAME)', value: 'NAME' },
  follow: { doc: 'goes on after the end of stdin, until Ctrl-C' },
} as const satisfies Record<string, OptionSpec>

export interface ChatWords {
  readonly from: ChatFrom | 'unread'
  readonly reader: string
}

/** `machine`: the name of the one that it is typed on. */
export function chatWords({ values }: Pick<Invocation, 'values'>, machine: string): ChatWords {
  const begins = ['last', 'since', 'unread'].filter((name) => values.has(name)).map((name) => `--${name}`)
  if (begins.length > 1) throw usageError(`${begins.join(' and ')} exclude each other`)
  const last = wholeNumber(values, 'last', { min: 0, max: CHAT_LIMITS.page })
  const after = wholeNumber(values, 'since', { min: 0, max: Number.MAX_SAFE_INTEGER })
  const reader = values.text('reader') ?? readerOn(machine)
  if (!READER.test(reader) || reader.length > READER_CHARS)
    throw usageError(`--reader must have 1 to ${READER_CHARS} letters, digits, dots, hyphens and underscores`)
  if (values.has('unread')) return { from: 'unread', reader }
  return { from: after === undefined ? { last: last ?? LAST_USUAL } : { after }, reader }
}

/** The gateway puts the person's name before it. */
const readerOn = (machine: string): string => `shell-${machine}`.replaceAll(/[^a-zA-Z0-9._-]/g, '-').slice(0, READER_CHARS)
