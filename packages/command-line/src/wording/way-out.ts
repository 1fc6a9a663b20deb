import type { CommandSpec } from '../index.ts'

/**
 * What to do about failures, by their codes. Rooms know what happened; only here is known which option helps, and that differs from command to
 * command: `{option}` stands for one, `{--}` for the command that is given after `--`, and the first line of which the command has all is said.
 */
const WAYS_OUT: Readonly<Record<string, readonly string[]>> = {
  locked: ['stop the gateway that runs on it, or choose another folder with {data}', 'stop the gateway that runs on it'],
  schema_too_new: ['run the version that wrote it, or restore a backup'],
  unavailable: ['check that the database runs and {database} is right'],
  secret_mismatch: ['use the secret this database was made with: DATA/secret or PARLEY_SECRET'],
  unreachable: [
    'check {join} and that the gateway runs',
    'check {url} and that the gateway runs',
    'check the address, and that somebody serves there',
  ],
  unauthorized: ['check {upstream-token-file}', 'check {token-file}; parley doctor --url U says which step fails'],
  not_empty: ['restore into a new folder with {data}, or into an empty database'],
  spawn_failed: ['check {--}'],
  git_failed: ['git is needed to make a repository to try'],
  port_taken: [
    'choose another with {listen}; ws://127.0.0.1:0 lets the system choose',
    'choose another with {port}, or let the system choose with {port} 0',
  ],
  port_forbidden: ['choose one from 1024 on with {listen}', 'choose one from 1024 on with {port}'],
  host_unknown: ['choose another with {listen}', 'choose another with {host}'],
  gateway_missing: [
    'start one with parley up, or name another by {data} or {url}',
    'start one with parley up, or name another by {data} or {gateway}',
  ],
  executor_draining: ['parley executor drain NAME --undo lets it take sessions again'],
}

/** The codes that have a way out, for tests. */
export const KNOWN_CODES: readonly string[] = Object.keys(WAYS_OUT)

/** What helps with a failure in the words of the command that failed; nothing where that is not known. */
export function wayOut(code: string, command: Pick<CommandSpec, 'options' | 'rest'> | undefined): string | undefined {
  if (command === undefined) return undefined
  const fits = (line: string): boolean =>
    [...line.matchAll(NAMED)].every(([, name = '']) => optionIn(command, name) !== undefined)
  return WAYS_OUT[code]?.find(fits)?.replaceAll(NAMED, (text, name: string) => optionIn(command, name) ?? text)
}
const NAMED = /\{([\w-]+)\}/g
const TOKEN_VARIABLE = /\bPARLEY_\w*TOKEN\b/

function optionIn({ options, rest }: Pick<CommandSpec, 'options' | 'rest'>, name: string): string | undefined {
  if (name === '--') return rest === undefined ? undefined : 'the command after --'
  if (options[name] === undefined) return undefined
  // A token may come from the environment as well; the help of the command says by which name.
  const variable =
    name === 'token-file' ? TOKEN_VARIABLE.exec(`${options[name].doc} ${options.token?.doc ?? ''}`)?.[0] : undefined
  return variable === undefined ? `--${name}` : `--${name} or ${variable}`
}
