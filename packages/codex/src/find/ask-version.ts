import { realpath, stat } from 'node:fs/promises'
import type { Programs } from '@parley/contracts'
import { type Detected, detectVersion } from '@parley/contracts/version'

const ANSWER_MS = 10_000
const ANSWER_BYTES = 4 * 1024

export interface AskVersionOptions {
  readonly programs: Pick<Programs, 'run'>
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** A version that is taken instead of asking. */
  readonly override?: string
}

/** What the Codex at a path says that it is, asked without a shell and once for each file. Rejects where there is no such file. */
export async function askVersion(path: string, { programs, env, cwd, override }: AskVersionOptions): Promise<Detected> {
  const { mtimeMs, ctimeMs, size: sizeBytes, ino: inode } = await stat(path)
  const run = async (args: readonly string[]) => {
    const call = { command: path, args, env, ...(cwd === undefined ? {} : { cwd }) }
    const done = await programs.run(call, { timeoutMs: ANSWER_MS, maxBytes: ANSWER_BYTES })
    if (done.kind === 'timed-out') throw new Error(`no answer in ${ANSWER_MS} ms`)
    return { stdout: done.stdout, stderr: done.stderr, code: done.exit.code }
  }
  return detectVersion(run, {
    file: { path: await realpath(path), mtimeMs, ctimeMs, sizeBytes, inode },
    // Ours ends first, and says more.
    timeoutMs: ANSWER_MS + 1_000,
    ...(override === undefined ? {} : { override }),
  })
}
