import { CommandError, type Io, usageError } from '@parley/command-line'
import { readGivenText, warnIfOpen } from '@parley/command-line/commands'

const TYPED_CHARACTERS = 1024
const FILE_BYTES = 64 * 1024

/** Gets a password without it ever standing in argv: from a file, from stdin, or typed twice without echo. */
export async function readPassword(
  io: Io,
  { who, file }: { readonly who: string; readonly file: string | undefined },
): Promise<string> {
  if (file !== undefined || !io.stdin.isTTY) {
    const given = { what: '--password-file', file: file ?? '-', cwd: io.cwd }
    const password = firstLine(readGivenText(given, FILE_BYTES), `--password-file ${given.file}`)
    warnIfOpen(given, io, 'password')
    return password
  }
  const first = await typeHidden(io, `Password for ${who}: `)
  const second = await typeHidden(io, 'Once more: ')
  if (first !== second) throw new CommandError('password_mismatch', 'the two passwords differ')
  if (first === '') throw usageError('the password is empty')
  return first
}

function firstLine(text: string, from: string): string {
  const line = text.split('\n')[0]?.replace(/\r$/, '') ?? ''
  if (line === '') throw usageError(`${from} holds no password`, 'put it into the first line')
  return line
}

const ENTER = new Set(['\r', '\n', '\u0004'])
const ERASE = new Set(['\u007f', '\b'])
const INTERRUPT = '\u0003'

function typeHidden({ stdin, err }: Io, prompt: string): Promise<string> {
  err(prompt)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  return new Promise((done, refuse) => {
    let typed = ''
    const finish = (settle: () => void): void => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      err('\n')
      settle()
    }
    const take = (text: string): void => {
      for (const character of text) {
        if (ENTER.has(character)) return finish(() => done(typed))
        if (character === INTERRUPT)
          return finish(() => refuse(new CommandError('interrupted', 'interrupted', { exitCode: 130 })))
        if (ERASE.has(character)) typed = typed.slice(0, -1)
        else if (typed.length < TYPED_CHARACTERS) typed += character
      }
    }
    stdin.on('data', take)
  })
}
