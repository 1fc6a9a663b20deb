import { CommandError } from '@parley/command-line'

/** Lines of a text that comes in pieces, at most so long. Waits with reading while a line is worked on. */
export async function* linesOf(
  stream: AsyncIterable<Buffer | string>,
  { what, maxChars }: { readonly what: string; readonly maxChars: number },
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let left = ''
  let number = 0
  const tooLong = (): CommandError =>
    new CommandError('invalid_argument', `line ${number + 1} of ${what} has more than ${maxChars} characters`)
  const decoded = (piece: Buffer | string | undefined): string => {
    try {
      return typeof piece === 'string' ? piece : decoder.decode(piece, { stream: piece !== undefined })
    } catch (cause) {
      throw new CommandError('invalid_argument', `line ${number + 1} of ${what} is not UTF-8 text`, { cause })
    }
  }
  for await (const piece of stream) {
    const lines = `${left}${decoded(piece)}`.split('\n')
    left = lines.pop() ?? ''
    for (const line of lines) {
      if (line.length > maxChars) throw tooLong()
      yield line.replace(/\r$/, '')
      number += 1
    }
    if (left.length > maxChars) throw tooLong()
  }
  left += decoded(undefined)
  if (left.length > maxChars) throw tooLong()
  if (left !== '') yield left
}
