import { isAbsolute, resolve } from 'node:path'
import type { Commands } from '@parley/agent'
import { BackendError } from '@parley/codex/port'
import type { OneOffCommand } from '../backend.ts'
import { REACH, unlinked } from '../reach.ts'

/** The commands of one folder: all that they may write to, unless they may do anything. */
export interface FolderCommands extends Commands {
  /** Ends what runs. Commands that come later are refused. */
  close(): Promise<void>
}

/** As long as Codex gives a command that says nothing about it. */
const DEFAULT_MS = 10_000
const MOST_MS = 10 * 60_000
/** Of each stream. What is more is dropped while the command runs on. */
export const OUTPUT_BYTES = 1024 * 1024
/** What a shell answers for a program that it cannot find. */
const NOT_FOUND = 127

/** Runs one command as its policy says; without one it reads and writes nothing beyond its folder. Throws `BackendError`. */
export async function runOneOff(
  { argv, timeoutMs = DEFAULT_MS, folder, sandboxPolicy = { mode: 'read-only' } }: OneOffCommand,
  ports: { readonly folder: string; readonly commandsFor: (folder: string) => FolderCommands },
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const [program = ''] = argv
  if (program === '') throw new BackendError('invalid_request', 'command must not be empty', { data: { param: 'command' } })
  const place = unlinked(folder === undefined ? ports.folder : resolve(isAbsolute(folder) ? '/' : ports.folder, folder))
  const reach = REACH[sandboxPolicy.mode]
  const network = reach === 'full-access' || (reach === 'workspace-write' && sandboxPolicy.networkAccess === true)
  const commands = ports.commandsFor(place)
  try {
    const {
      exitCode,
      signal: killed,
      timedOut,
      message,
      stdout,
      stderr,
    } = await commands.run(
      { argv, folder: place, timeoutMs: Math.min(timeoutMs, MOST_MS), reach, network, outputBytes: OUTPUT_BYTES },
      () => undefined,
      signal,
    )
    if (signal.aborted) throw stopped()
    if (timedOut) throw new BackendError('failed', 'exec failed: sandbox error: command timed out')
    const texts = { stdout: textOf(stdout), stderr: textOf(stderr) }
    if (exitCode === NOT_FOUND && texts.stderr.includes('not found') && isNamedThere(program, texts.stderr))
      throw new BackendError('failed', 'exec failed: No such file or directory (os error 2)')
    if (exitCode !== null) return { exitCode, ...texts }
    const why = message ?? `sandbox error: command was killed by ${killed ?? 'a signal'}`
    throw new BackendError('failed', `exec failed: ${why}`)
  } finally {
    await commands.close()
  }
}

/** Nobody waits for the command any more. */
export const stopped = (): BackendError => new BackendError('failed', 'exec failed: the command was stopped')

/** The shell that starts programs in the sandbox complains of the program itself, and says nothing else. */
const isNamedThere = (program: string, stderr: string): boolean =>
  stderr.trim().split('\n').length === 1 && stderr.includes(`${program}: not found`)

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
