import { BackendError } from '@parley/codex/port'
import { messageOf } from '@parley/protocol/wire'
import type { OpenGit, RunProgram } from './run-program.ts'

const GIT_MS = 10_000
const DIFF_BYTES = 16 * 1024 * 1024
const LIST_BYTES = 4 * 1024 * 1024
/** Branches of remotes that are looked at. */
const REFS_MAX = 64
/** New files that are shown; a folder of more is one that should be ignored. */
const UNTRACKED_MAX = 200

/**
 * Nothing that a repository brings along may run, and nothing is fetched: no hooks, file watcher, pager, editor, helpers for
 * passwords, programs to connect with or to list references by. The sandbox holds what is forgotten here.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'core.pager=cat',
  'core.editor=false',
  'core.askPass=false',
  'core.sshCommand=false',
  'core.gitProxy=false',
  'core.alternateRefsCommand=true',
  'core.attributesFile=/dev/null',
  'credential.helper=',
  'protocol.allow=never',
  'diff.external=',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // Inside of the sandbox the files may be another user's.
  'safe.directory=*',
]
const QUIET = [...SETTINGS.flatMap((setting) => ['-c', setting]), '--no-pager', '--no-optional-locks']
const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=dirty']

/** What a working tree has over the nearest commit that a remote has, new files included. Throws `BackendError`. */
export async function diffToRemote(folder: string, openGit: OpenGit): Promise<{ readonly sha: string; readonly diff: string }> {
  let git: Awaited<ReturnType<OpenGit>> | undefined
  try {
    git = await openGit(folder)
    const repository = new Repository(folder, git.run)
    await repository.settle()
    const sha = await repository.nearest()
    if (sha === undefined) throw new GitFailed('no remote has a commit that is an ancestor')
    return { sha, diff: await repository.diffFrom(sha) }
  } catch (cause) {
    throw new BackendError('invalid_request', `failed to compute git diff to remote for cwd: ${JSON.stringify(folder)}`, {
      data: { param: 'cwd', reason: messageOf(cause) },
      cause,
    })
  } finally {
    await git?.close()
  }
}

/** A step that git did not take; told by the one that asked for the diff. */
class GitFailed extends Error {}

class Repository {
  readonly #run: RunProgram
  #folder: string
  #settings: readonly string[] = QUIET

  constructor(folder: string, run: RunProgram) {
    this.#folder = folder
    this.#run = run
  }

  /** Goes to the root, and takes the filters out that its settings name, in whichever file: they are programs, run by a mere diff. */
  async settle(): Promise<void> {
    this.#folder = (await this.#git(['rev-parse', '--show-toplevel'])).trimEnd()
    const filters = await this.#git(['config', '--null', '--name-only', '--get-regexp', '^filter\\..*\\.'], [0, 1])
    const names = new Set(filters.split('\0').flatMap((key) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []))
    const off = (name: string): string[] => [
      '-c',
      `filter.${name}.clean=`,
      '-c',
      `filter.${name}.process=`,
      '-c',
      `filter.${name}.required=false`,
    ]
    this.#settings = [...Array.from(names, off).flat(), ...QUIET]
  }

  /** The commit of a remote with the fewest commits of our own after it. */
  async nearest(): Promise<string | undefined> {
    const list = (more: readonly string[]): Promise<string[]> =>
      this.#lines([
        'for-each-ref',
        `--count=${REFS_MAX}`,
        '--sort=-committerdate',
        '--format=%(objectname)',
        ...more,
        'refs/remotes',
      ])
    const merged = new Set(await list(['--merged=HEAD']))
    if (merged.size > 0) return this.#closest(merged)
    const bases = new Set<string>()
    for (const ref of await list([])) for (const base of await this.#lines(['merge-base', 'HEAD', ref], [0, 1])) bases.add(base)
    return this.#closest(bases)
  }

  async #closest(shas: ReadonlySet<string>): Promise<string | undefined> {
    let best: { readonly sha: string; readonly distance: number } | undefined
    for (const sha of shas) {
      const distance = Number(await this.#git(['rev-list', '--count', `${sha}..HEAD`]))
      if (best === undefined || distance < best.distance) best = { sha, distance }
    }
    return best?.sha
  }

  async diffFrom(sha: string): Promise<string> {
    const tracked = await this.#git(['diff', ...PLAIN, sha, '--'], [0], DIFF_BYTES)
    const untracked = (await this.#git(['ls-files', '--others', '--exclude-standard', '-z']))
      .split('\0')
      .filter((path) => path !== '')
    let diff = tracked
    for (const path of untracked.slice(0, UNTRACKED_MAX))
      // Told apart from an empty file by one: that is how git says that there is a difference.
      diff += await this.#git(['diff', ...PLAIN, '--binary', '--no-index', '--', '/dev/null', path], [0, 1], DIFF_BYTES)
    return diff
  }

  async #lines(args: readonly string[], codes?: readonly number[]): Promise<string[]> {
    return (await this.#git(args, codes)).split('\n').filter((line) => line !== '')
  }

  async #git(args: readonly string[], codes: readonly number[] = [0], outputBytes = LIST_BYTES): Promise<string> {
    const outcome = await this.#run(['git', ...this.#settings, ...args], { folder: this.#folder, timeoutMs: GIT_MS, outputBytes })
    const [what = 'git'] = args
    if (outcome.kind === 'timed-out') throw new GitFailed(`git ${what} took too long`)
    if (outcome.kind === 'too-much') throw new GitFailed(`git ${what} said more than ${outputBytes} bytes`)
    if (outcome.exitCode === null || !codes.includes(outcome.exitCode))
      throw new GitFailed(`git ${what} failed: ${outcome.stderr.trim()}`)
    return outcome.stdout
  }
}
