import type { ChatMessage, TranscriptLine } from '@parley/protocol'
import { visibleName } from '@parley/protocol/visible'
import { indentedText, markdownText, NO_SCREEN, painterFor, secondText } from '@parley/screen'
import type { Io } from '@parley/command-line'
import { lineText } from '../agent/line-text.ts'

type Reader = Pick<Io, 'env' | 'screen'>

const INDENT = '  '

/** Who said it and when, and below it, indented, what: no line of a message looks like the first of another. */
export function messageText({ id, at, from, by, text }: ChatMessage, io: Reader): string {
  const screen = io.screen() ?? NO_SCREEN
  const paint = painterFor(screen)
  const name = paint(from === 'agent' ? 'cyan' : 'green', visibleName(by))
  const whose = from === 'agent' ? ' (agent)' : ''
  const body = markdownText(text, { indent: INDENT, columns: screen.columns, paint })
  return `${name}${whose} ${paint('dim', `${secondText(at, io)} #${id}`)}\n${body}`
}

/** What a local agent does meanwhile, in a line: when its turns begin and end, and what it calls. `undefined`: nothing to be told here. */
export function activityText(line: TranscriptLine, io: Reader): string | undefined {
  const words = wordsOf(line)
  if (words === undefined) return undefined
  const screen = io.screen() ?? NO_SCREEN
  return painterFor(screen)('dim', indentedText(words, { indent: `${INDENT}| `, columns: screen.columns }))
}

function wordsOf(line: TranscriptLine): string | undefined {
  switch (line.type) {
    case 'turn_started':
    case 'tool':
    case 'tool_ended':
    case 'command':
    case 'command_ended':
    case 'patch':
    case 'patch_ended':
    case 'warning':
      return lineText(line)
    case 'turn_ended':
      return lineText(line) ?? 'its turn has ended'
    // It is shown as what waits, and answered there.
    case 'asked':
    case 'notice':
    case 'message':
    case 'reasoning':
    case 'plan':
    case 'compacted':
    case 'forked':
    case 'memory':
    case 'usage':
      return undefined
  }
}
