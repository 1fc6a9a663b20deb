import type { JsonObject } from '@parley/protocol'

/** What a command is about, where that is plain to see; `path` of a file that is read is told by the newer dialect alone. */
export type ParsedCommand =
  | { readonly type: 'read'; readonly cmd: string; readonly name: string; readonly path: string }
  | { readonly type: 'list_files'; readonly cmd: string; readonly path: string | null }
  | { readonly type: 'search'; readonly cmd: string; readonly query: string | null; readonly path: string | null }
  | { readonly type: 'unknown'; readonly cmd: string }

const SHELLS = /(^|\/)(ba|z)?sh$/
/** Of these alone the older one reads the script: `sh -c` is a command like any other to it. */
const OLDER_SHELLS = /(^|\/)(ba|z)sh$/
const PLAIN_WORDS = /^[\w./@:+,=-]+( +[\w./@:+,=-]+)*$/

/** Reads the simplest commands; everything else is `unknown`, as Codex does with what it cannot read. */
export function parseCommand(argv: readonly string[], shells = SHELLS): ParsedCommand {
  const script = scriptOf(argv, shells)
  const cmd = script ?? shellWords(argv)
  const words = PLAIN_WORDS.test(cmd) ? cmd.split(/ +/) : script === undefined ? [...argv] : []
  const [program = '', ...rest] = words
  const named = rest.filter((word) => !word.startsWith('-'))
  const [first, second] = named
  if (program === 'cat' && named.length === 1 && first !== undefined) {
    return { type: 'read', cmd, name: first.split('/').at(-1) ?? first, path: first }
  }
  if (program === 'ls' && named.length <= 1) return { type: 'list_files', cmd, path: first ?? null }
  if ((program === 'rg' || program === 'grep') && first !== undefined && named.length <= 2) {
    return { type: 'search', cmd, query: first, path: second ?? null }
  }
  return { type: 'unknown', cmd }
}

/** As the older dialect has it: without the path of a file that is read. */
export function parsedForOlder(argv: readonly string[]): JsonObject {
  const parsed = parseCommand(argv, OLDER_SHELLS)
  return parsed.type === 'read' ? { type: parsed.type, cmd: parsed.cmd, name: parsed.name } : { ...parsed }
}

/** A command as somebody would type it into a shell. */
export function shellWords(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

function quoted(word: string): string {
  if (word !== '' && /^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") ? `"${word.replaceAll(/[\\"$`]/g, String.raw`\$&`)}"` : `'${word}'`
}

function scriptOf(argv: readonly string[], shells: RegExp): string | undefined {
  const [program, flag, script] = argv
  const isScript = argv.length === 3 && program !== undefined && shells.test(program) && (flag === '-lc' || flag === '-c')
  return isScript ? script : undefined
}
