import type { TranscriptLine } from '@parley/protocol'
import { visibleName } from '@parley/protocol/visible'
import { plainLines, plainText } from '@parley/screen'
import { callText } from '../call-text.ts'

const ONE_LINE_CHARS = 160

/** What a line of a transcript says, for people: messages whole, all else in one line. `undefined`: nothing that they need. */
export function lineText(line: TranscriptLine): string | undefined {
  switch (line.type) {
    case 'turn_started':
      return oneLine(`> ${line.by}: ${line.text}${line.resumed ? ' (goes on after a restart)' : ''}`)
    case 'notice':
      return plainLines(line.text)
    case 'message':
      return plainLines(line.text)
    case 'reasoning':
      return oneLine(`~ ${line.text}`)
    case 'plan':
      return oneLine(`plan: ${line.steps.map(({ step, status }) => `${MARKS[status]} ${step}`).join('; ')}`)
    case 'tool':
      return oneLine(
        `+ ${line.mount === null ? '' : `${line.mount}_`}${visibleName(line.tool)} ${JSON.stringify(line.arguments)}`,
      )
    case 'tool_ended':
      return line.status === 'completed' ? undefined : indented(`${line.status}: ${line.error ?? 'it says that it failed'}`)
    case 'command':
      return oneLine(`$ ${commandOf(line.argv)}`)
    case 'command_ended':
      return line.status === 'completed' ? undefined : indented(`${line.status}${exitOf(line.exit_code)}: ${line.output.trim()}`)
    case 'patch':
      return oneLine(`* ${line.changes.map(({ kind, path }) => `${kind} ${path}`).join(', ')}`)
    case 'patch_ended':
      return line.status === 'completed' ? undefined : indented(`${line.status}: ${line.error ?? ''}`)
    case 'asked':
      return oneLine(`? ${callText(line)} waits for a person: parley approvals approve ${line.approval_id} (${line.reason})`)
    case 'compacted':
      return `(summed up: ${line.before} tokens to ${line.after})`
    case 'forked':
      return `(what is above was known to ${line.agent_id})`
    case 'warning':
      return oneLine(`warning: ${line.message}`)
    case 'turn_ended':
      return line.status === 'completed'
        ? undefined
        : oneLine(`${line.status}${line.code === null ? '' : ` (${line.code}): ${line.message}`}`)
    case 'memory':
    case 'usage':
      return undefined
  }
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

const exitOf = (code: number | null): string => (code === null ? '' : ` with ${code}`)

/** A line for a shell is shown as one, without the shell. */
function commandOf(argv: readonly string[]): string {
  const [program, flag, script, ...rest] = argv
  return program === 'bash' && flag === '-lc' && script !== undefined && rest.length === 0 ? script : argv.join(' ')
}

const indented = (text: string): string => `  ${oneLine(text)}`

function oneLine(text: string): string {
  const plain = plainText(text.replaceAll(/\s+/g, ' ').trimEnd())
  return plain.length <= ONE_LINE_CHARS ? plain : `${plain.slice(0, ONE_LINE_CHARS - 1)}…`
}
