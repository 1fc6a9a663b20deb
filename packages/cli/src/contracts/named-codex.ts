import { statSync } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'
import { askVersion } from '@parley/codex'
import { findCodex } from '@parley/codex/find'
import type { CodexVersion, Detected } from '@parley/contracts/version'
import type { Processes } from '@parley/executor'
import { CommandError, type Io, usageError } from '@parley/command-line'
import { programsOf } from '../programs-of.ts'

export interface NamedCodex {
  readonly path: string
  readonly version: CodexVersion
  /** False for one that is newer than all that were recorded. */
  readonly known: boolean
  readonly note: string | undefined
}

/** The Codex that a command line names, and its version. Throws `CommandError`. */
export async function namedCodex(io: Io, processes: Processes, given: string, override: string | undefined): Promise<NamedCodex> {
  const { path, found } = await detectCodex(io, processes, given, override)
  if (found.kind === 'supported')
    return { path, version: found.version, known: found.known, note: found.known ? undefined : found.note }
  if (found.kind === 'too-old')
    throw new CommandError('unsupported_version', found.message, { hint: 'npm install -g @openai/codex' })
  if (found.kind === 'unreadable') throw usageError(`--codex-version: ${found.message}`)
  const hint = 'check --codex, or say the version with --codex-version'
  throw new CommandError('version_unknown', `${given} does not say its version: ${found.message}`, { hint })
}

/** The same, whatever comes of asking it. Throws `CommandError` where there is no such program. */
export async function detectCodex(
  io: Io,
  processes: Processes,
  given: string,
  override?: string,
): Promise<{ readonly path: string; readonly found: Detected }> {
  const searchPath = (io.env['PATH'] ?? '').split(delimiter)
  const path = findCodex(given, { searchPath, cwd: io.cwd })
  if (path === undefined)
    throw new CommandError('codex_missing', `${given} ${whyMissing(io, given)}`, {
      hint: 'npm install -g @openai/codex, or name its path with --codex',
      exitCode: 2,
    })
  const env = { PATH: [dirname(process.execPath), ...searchPath].join(delimiter), HOME: io.env['HOME'] ?? '/' }
  const programs = programsOf(processes)
  return { path, found: await askVersion(path, { programs, env, ...(override === undefined ? {} : { override }) }) }
}

function whyMissing({ cwd }: Io, given: string): string {
  if (!given.includes('/')) return 'is not on PATH'
  const isThere = statSync(resolve(cwd, given), { throwIfNoEntry: false })?.isFile() === true
  return isThere ? 'may not be run' : 'is no file'
}
