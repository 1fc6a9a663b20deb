import { realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { type CodexFile, type CodexVersion, type Detected, detectVersion } from '@parley/contracts/version'
import { type Processes, capture } from '@parley/executor'
import { CommandError, usageError } from '../command-line/command-error.ts'
import type { Io } from '../command-line/io.ts'

const DETECT_MS = 10_000
const VERSION_BYTES = 4 * 1024

export interface FoundCodex {
  readonly path: string
  readonly version: CodexVersion
  /** False for one that is newer than all that were recorded. */
  readonly known: boolean
  readonly note: string | undefined
}

/** The Codex at a path and its version, asked without a shell. Throws `CommandError`. */
export async function findCodex(io: Io, processes: Processes, given: string, override: string | undefined): Promise<FoundCodex> {
  const { path, found } = await detectCodex(io, processes, given, override)
  if (found.kind === 'supported')
    return { path, version: found.version, known: found.known, note: found.known ? undefined : found.note }
  if (found.kind === 'too-old')
    throw new CommandError('unsupported_version', found.message, { hint: 'npm install -g @openai/codex' })
  if (found.kind === 'unreadable') throw usageError(`--codex-version: ${found.message}`)
  const hint = 'check --codex, or say the version with --codex-version'
  throw new CommandError('version_unknown', `${given} does not say its version: ${found.message}`, { hint })
}

/** The same, whatever comes of asking it. Throws `CommandError` where there is no such file. */
export async function detectCodex(
  io: Io,
  processes: Processes,
  given: string,
  override?: string,
): Promise<{ readonly path: string; readonly found: Detected }> {
  const { path, file } = await fileOf(io, given)
  const run = async (args: readonly string[]) => {
    const env = { PATH: [dirname(process.execPath), io.env['PATH'] ?? ''].join(delimiter), HOME: io.env['HOME'] ?? '/' }
    const done = await capture(processes, { command: path, args, env }, { timeoutMs: DETECT_MS, maxBytes: VERSION_BYTES })
    if (done.kind === 'timed-out') throw new Error(`no answer in ${DETECT_MS} ms`)
    return { stdout: done.stdout, stderr: done.stderr, code: done.exit.code }
  }
  const more = { timeoutMs: DETECT_MS + 1_000, ...(override === undefined ? {} : { override }) }
  return { path, found: await detectVersion(run, { file, ...more }) }
}

/** A path as it is given, or a name on PATH. */
async function fileOf(io: Io, given: string): Promise<{ readonly path: string; readonly file: CodexFile }> {
  const isPath = given.includes('/')
  // A relative place on PATH lies in the folder that we are called in: what is there may be anybody's.
  const folders = isPath ? [''] : (io.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  for (const folder of folders) {
    const path = isPath ? resolve(io.cwd, given) : join(folder, given)
    try {
      const { mtimeMs, ctimeMs, size: sizeBytes, ino: inode, ...kind } = await stat(path)
      if (kind.mode !== undefined && (kind.mode & 0o170000) === 0o040000) continue
      return { path, file: { path: await realpath(path), mtimeMs, ctimeMs, sizeBytes, inode } }
    } catch {
      continue
    }
  }
  const where = isPath ? 'is no file' : 'is not on PATH'
  throw new CommandError('codex_missing', `${given} ${where}`, {
    hint: 'npm install -g @openai/codex, or name its path with --codex',
    exitCode: 2,
  })
}
