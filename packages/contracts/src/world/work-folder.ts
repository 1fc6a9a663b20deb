import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Programs } from '../process/programs.ts'
import { DOT } from '../record/scenarios/conversations.ts'

const GIT_MS = 20_000
const GIT_BYTES = 4 * 1024

/** Nothing of the user's git may show in an answer, and its commits are the same each time. */
export const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
}

/** A repository to try things in could not be made: git is missing, or did not do what it was told. */
export class WorkFolderFailed extends Error {
  readonly code = 'git_failed'
  constructor(message: string) {
    super(message)
    this.name = 'WorkFolderFailed'
  }
}

/** Git for the repository: whoever makes the folder says where programs are found. */
export interface WorkFolderGit {
  readonly programs: Pick<Programs, 'run'>
  /** The search path of git. */
  readonly path: string
}

/** What the scenarios find in `$WORK`: a repository with a remote and a change, and a folder without one. Throws `WorkFolderFailed`. */
export async function fillWorkFolder(work: string, git: WorkFolderGit): Promise<void> {
  await fillPlainFolder(join(work, 'plain'))
  await fillRepository(join(work, 'repo'), git)
}

/** A folder with a picture in it. */
export async function fillPlainFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'dot.png'), Buffer.from(DOT, 'base64'))
}

/** Throws `WorkFolderFailed`. */
export async function fillRepository(folder: string, { programs, path }: WorkFolderGit): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'ranking.txt'), 'one\n')
  const env = { PATH: path, HOME: folder, ...GIT }
  for (const line of [
    'init --quiet --initial-branch=main',
    'add .',
    'commit --quiet --message=first',
    'clone --quiet --bare . ../remote.git',
    'remote add origin ../remote.git',
    'fetch --quiet origin',
    'branch --quiet --set-upstream-to=origin/main',
  ]) {
    const call = { command: 'git', args: line.split(' '), env, cwd: folder }
    const done = await programs.run(call, { timeoutMs: GIT_MS, maxBytes: GIT_BYTES })
    if (done.kind === 'ended' && done.exit.code === 0) continue
    throw new WorkFolderFailed(`git ${line} failed: ${done.kind === 'ended' ? done.stderr.trim() : 'it did not end'}`)
  }
  await writeFile(join(folder, 'ranking.txt'), 'one\ntwo\n')
  await writeFile(join(folder, 'new.txt'), 'new\n')
}
