import { realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from '@parley/command-line'

const BIN = fileURLToPath(new URL('../../../../bin/', import.meta.url))
/** The program that people and our own processes start. */
export const LAUNCHER = join(BIN, 'parley.js')
/** What `parley` on PATH may lead to and still be this very program. */
const OURS = [join(BIN, 'parley'), LAUNCHER]
const PLAIN = /^[\w@%+=:,./-]+$/

/** The first words of our commands: what makes `parley` in a text a command and not a name. */
export const FIRST_WORDS = [
  'agent',
  'agent-server',
  'app-server',
  'approvals',
  'audit',
  'backup',
  'channel',
  'completion',
  'config',
  'contracts',
  'demo',
  'doctor',
  'exec-server',
  'executor',
  'gateway',
  'grant',
  'help',
  'host',
  'job',
  'judge',
  'mcp',
  'mcp-server',
  'model',
  'mount',
  'policy',
  'pricing',
  'proxy',
  'quota',
  'restore',
  'sandbox',
  'status-server',
  'token',
  'trust',
  'up',
  'usage',
  'user',
  'version',
] as const
const COMMAND = new RegExp(`(?<![\\w./@-])parley(?= (?:--help|COMMAND|${FIRST_WORDS.join('|')})(?![\\w-]))`, 'g')

/** How a person types this program here: `parley` where PATH leads to it, else its path, from the working folder if that holds it. */
export function programName({
  env,
  cwd,
}: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}): string {
  if (process.platform === 'win32') return `node ${inShell(fromFolder(cwd, LAUNCHER))}`
  return isOnPath(env['PATH']) ? 'parley' : inShell(fromFolder(cwd, join(BIN, 'parley')))
}

/** A text that names our commands as `parley …`, with the program as it is typed here. Twice does the same as once. */
export function withProgram(text: string, program: string): string {
  return program === 'parley' ? text : text.replaceAll(COMMAND, () => program)
}

/** The first `parley` on PATH is the one that a shell would run; somebody else's must not be recommended. */
function isOnPath(path: string | undefined): boolean {
  const found = (path ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'parley'))
    .find(isProgram)
  return found !== undefined && OURS.includes(realpathSync(found))
}

function fromFolder(cwd: string, path: string): string {
  const way = relative(cwd, path)
  if (isAbsolute(way) || way.split(sep)[0] === '..') return path
  return way.includes(sep) ? way : `.${sep}${way}`
}

/** One word for a shell, whatever is in it. */
export function inShell(path: string): string {
  return PLAIN.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
