import { stripVTControlCharacters } from 'node:util'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type ServerLogLevel = (typeof LEVELS)[number]

/** Where a line comes from, as directives name it: this server, or the Codex behind it. */
export type LogTarget = 'parley_codex' | 'codex'

/** One line on stderr, where directives let it pass; they may also name the part of Codex that it is from. */
export type ServerLog = (level: ServerLogLevel, target: LogTarget, message: string, part?: string) => void

type Bound = ServerLogLevel | 'off'
interface Directive {
  readonly target: string
  readonly bound: Bound
}

const DEFAULT: Bound = 'info'
/** Our own words for what others call otherwise. */
const ALIASES: Readonly<Record<string, Bound>> = { silent: 'off', fatal: 'error', warning: 'warn' }
const LINE_CHARACTERS = 16 * 1024

/**
 * Logs by the directives of `PARLEY_LOG` or `RUST_LOG`: a level for all (`debug`, `off`), levels by target
 * (`info,parley_codex=debug`), the longest target that fits winning. What cannot be read is told once and left out.
 */
export function openServerLog(
  env: Readonly<Record<string, string | undefined>>,
  write: (text: string) => void,
  now: () => number,
): ServerLog {
  const text = env['PARLEY_LOG'] || env['RUST_LOG'] || ''
  const { directives, unread } = readDirectives(text)
  const log: ServerLog = (level, target, message, part) => {
    const bound = boundFor(directives, part === undefined ? [target] : [target, part])
    if (bound === 'off' || LEVELS.indexOf(level) < LEVELS.indexOf(bound)) return
    const at = new Date(now()).toISOString()
    const shown = message.length > LINE_CHARACTERS ? `${message.slice(0, LINE_CHARACTERS)}…` : message
    for (const line of shown.split(/\r?\n/)) write(`${at} ${level.toUpperCase().padStart(5)} ${target}: ${line}\n`)
  }
  for (const part of unread) log('warn', 'parley_codex', `the log directive ${JSON.stringify(part)} cannot be read`)
  return log
}

/** A line that Codex wrote to its own stderr, at the level that it gives itself. */
export function codexLine(log: ServerLog): (line: string) => void {
  return (line) => {
    // Colours are for terminals; the level stands behind the time.
    const plain = stripVTControlCharacters(line).trimEnd()
    if (plain === '') return
    const word = /^\S+\s+(TRACE|DEBUG|INFO|WARN|ERROR)\s/.exec(plain)?.[1]?.toLowerCase()
    // Behind the level stand what is under way, in braces, and the part that speaks.
    const part = word === undefined ? undefined : /\s([a-z]\w*(?:::\w+)*): /.exec(plain)?.[1]
    log(LEVELS.find((level) => level === word) ?? 'info', 'codex', plain, part)
  }
}

function readDirectives(text: string): { readonly directives: readonly Directive[]; readonly unread: readonly string[] } {
  const directives: Directive[] = []
  const unread: string[] = []
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue
    const [name = '', level] = part.split('=', 2)
    const bare = level === undefined ? boundOf(name) : undefined
    const bound = level === undefined ? (bare ?? 'trace') : boundOf(level)
    // A word alone is a level, or a target of which everything is wanted.
    if (bound === undefined || !/^[A-Za-z_][\w:-]*$/.test(name)) unread.push(part)
    else directives.push({ target: bare === undefined ? name : '', bound })
  }
  return { directives, unread }
}

function boundOf(word: string): Bound | undefined {
  const lower = word.trim().toLowerCase()
  return lower === 'off' ? 'off' : (LEVELS.find((level) => level === lower) ?? ALIASES[lower])
}

function boundFor(directives: readonly Directive[], names: readonly string[]): Bound {
  const fitting = directives.filter((directive) => names.some((name) => isWithin(name, directive.target)))
  const best = fitting.reduce<Directive | undefined>(
    (longest, directive) => (longest === undefined || directive.target.length >= longest.target.length ? directive : longest),
    undefined,
  )
  // As with Rust's own: who names targets alone hears nothing of the others.
  return best?.bound ?? (directives.length === 0 ? DEFAULT : 'error')
}

const isWithin = (name: string, directive: string): boolean =>
  directive === '' || name === directive || directive.startsWith(`${name}::`) || name.startsWith(`${directive}::`)
