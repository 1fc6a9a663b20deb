import { BadRequestText, type Explanation, explain, readRequest } from '@parley/contracts'
import { NEWEST_KNOWN } from '@parley/contracts/version'
import { messageOf } from '@parley/protocol'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { readGivenText } from '@parley/command-line/commands'

const REFUSED_EXIT = 1
const INPUT_BYTES = 16 * 1024 * 1024

/** What becomes of a request on a version. */
export async function contractsExplain({ io, values, positionals }: Invocation): Promise<number> {
  const version = values.text('codex-version')
  if (version === undefined) throw usageError('contracts explain needs --codex-version', `--codex-version ${NEWEST_KNOWN}`)
  const file = positionals[0] ?? '-'
  const text =
    file === '-' ? await readAll(io.stdin, 'standard input') : readGivenText({ what: 'FILE', file, cwd: io.cwd }, INPUT_BYTES)
  let explanation: Explanation
  try {
    explanation = explain(readRequest(text, values.text('method')), version)
  } catch (error) {
    if (!(error instanceof BadRequestText)) throw error
    throw new CommandError(error.code, error.message, { exitCode: 2, hint: '{"method":"newConversation","params":{}}' })
  }
  if (values.has('json')) io.out(`${JSON.stringify(explanation)}\n`)
  else io.out(io.typed(explanationText(explanation)))
  return explanation.verdict === 'refused' ? REFUSED_EXIT : 0
}

function explanationText({ method, codexVersion, verdict, steps, refusals, sent, notes }: Explanation): string {
  const lines = [
    `${verdict}: ${method} on Codex ${codexVersion}`,
    ...refusals.map(({ message, change }) => `  refused  ${message}: ${change}`),
    ...steps.map(({ field, from, to, why }) => `  changed  ${field}: ${shown(from)} -> ${shown(to)}: ${why}`),
    ...notes.map((note) => `  note     ${note}`),
    ...(sent === null ? [] : [`  sent     ${JSON.stringify(sent)}`]),
  ]
  return `${lines.join('\n')}\n`
}

const shown = (value: unknown): string =>
  value === null ? '(nothing)' : typeof value === 'string' ? value : JSON.stringify(value)

async function readAll(stream: NodeJS.ReadableStream, name: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream) {
      const piece = Buffer.from(chunk)
      bytes += piece.length
      if (bytes > INPUT_BYTES) throw usageError(`${name} has more than ${INPUT_BYTES} bytes, which no request has`)
      chunks.push(piece)
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw usageError(`${name} cannot be read: ${messageOf(error)}`)
  }
  return Buffer.concat(chunks).toString('utf8')
}
