import { randomBytes } from 'node:crypto'
import {
  CommandError,
  type CommandGroup,
  type CommandSpec,
  eachRequest,
  helpFor,
  type Io,
  parseLine,
  type ProcessIo,
} from '@parley/command-line'
import { programName, withProgram } from './wording/program.ts'
import { SERVER_COMMANDS } from './commands/server/server-table.ts'
import { plainText } from '@parley/screen'

/** Runs one command line and answers the exit code. Nothing is thrown: what fails is one line on stderr. */
export async function main(argv: readonly string[], given: ProcessIo = processIo()): Promise<number> {
  const io = inWordsOfCaller(given)
  const asJson = wantsJson(argv)
  let command: CommandSpec | undefined
  try {
    const groups = await groupsFor(argv)
    const parsed = parseLine(
      argv,
      groups.flatMap(({ commands }) => commands),
    )
    if (parsed.kind === 'wrong') return await report(io, parsed.error, asJson)
    if (parsed.kind === 'help') {
      io.out(helpFor(parsed.words, groups, io.typed))
      return 0
    }
    command = parsed.command
    return await command.run({ io, values: parsed.values, positionals: parsed.positionals, rest: parsed.rest })
  } catch (error) {
    const known = error instanceof CommandError ? error : (await wording()).asCommandError(error)
    if (known.code === 'internal' && io.env['PARLEY_DEBUG'] !== undefined)
      io.err(`${error instanceof Error ? error.stack : String(error)}\n`)
    return await report(io, known, asJson, command)
  }
}

/** The servers that a client waits for are found without the table of everything, which takes longer to load than they do. */
async function groupsFor([first]: readonly string[]): Promise<readonly CommandGroup[]> {
  if (!SERVER_COMMANDS.some(({ name }) => name === first)) return (await import('./commands/table.ts')).GROUPS
  return [{ name: first ?? '', title: '', commands: SERVER_COMMANDS }]
}

/** What failures are called: not before something has failed, because a client may be waiting for the first answer. */
const wording = () => import('@parley/command-line/wording')

/** Errors are for stderr either way; `--json` makes them data. */
async function report(io: Io, error: CommandError, asJson: boolean, command?: CommandSpec): Promise<number> {
  const { code, message, exitCode } = error
  const advice = error.hint ?? (await wording()).wayOut(code, command)
  const line = io.typed(plainText(message.replaceAll(/\s*\n\s*/g, ' ')))
  const hint = advice === undefined ? undefined : io.typed(advice)
  if (asJson) io.err(`${JSON.stringify({ error: { code, message: line, ...(hint === undefined ? {} : { hint }) } })}\n`)
  else io.err(`parley: ${line}${hint === undefined ? '' : ` (${plainText(hint)})`}\n`)
  return exitCode
}

/**
 * Messages and hints of all rooms, and of gateways, name commands as `parley …`; a person has to be able to type them. Bytes
 * are of others and stay as they are.
 */
function inWordsOfCaller(given: ProcessIo): Io {
  let program: string | undefined
  const typed = (text: string): string => {
    program ??= programName(given)
    return withProgram(text, program)
  }
  return { ...given, typed, err: (text) => given.err(typeof text === 'string' ? typed(text) : text) }
}

/** Even a line that cannot be understood says whether a program reads the answer. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function processIo(): ProcessIo {
  // Whoever read us has gone (`parley user list | head`): nobody is left to tell, and it is no failure of ours.
  process.stdout.on('error', () => process.exit(0))
  process.stderr.on('error', () => {})
  return {
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    now: Date.now,
    random: randomBytes,
    onSignal: (asked) => {
      const each = eachRequest(asked, process.env, () => performance.now())
      for (const signal of SIGNALS) process.on(signal, each)
      return () => {
        for (const signal of SIGNALS) process.off(signal, each)
      }
    },
    isTerminal: process.stderr.isTTY,
    screen: () => {
      const { isTTY, columns, rows } = process.stdout
      if (!isTTY) return undefined
      const locale = process.env['LC_ALL'] || process.env['LC_CTYPE'] || process.env['LANG'] || ''
      // A terminal that was never told its size says 0.
      return {
        columns: columns || 80,
        rows: rows || 24,
        isUnicode: /utf-?8/i.test(locale),
        hasColours: process.stdout.hasColors(),
      }
    },
  }
}
