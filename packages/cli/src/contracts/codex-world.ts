import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { DOT, type ModelAnswer, type RecordingWorld, type ScenarioSettings } from '@parley/codex/contracts'
import { type Processes, capture } from '@parley/executor'
import { CommandError } from '../command-line/command-error.ts'
import type { Io } from '../command-line/io.ts'
import { MODEL_KEY, codexConfig } from './codex-config.ts'
import { openLoopbackModel } from './loopback-model.ts'

const GIT_MS = 20_000
const GIT_BYTES = 4 * 1024
/** Nothing of the user's git may show in an answer. */
const GIT = {
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

/** What is run for each scenario. A whole command is run as it is; a Codex gets the arguments of its dialect behind its own. */
export interface Server {
  readonly command: string
  readonly args: readonly string[]
  readonly isWhole: boolean
}

/** Where scenarios are played; the working folder is made once and copied for each. */
export interface Worlds extends AsyncDisposable {
  readonly open: (settings: ScenarioSettings, answers: readonly ModelAnswer[]) => Promise<RecordingWorld>
}

/** Each scenario gets a private home, a working folder, a loopback model, and a server of its own. */
export async function openWorlds(io: Io, processes: Processes, server: Server): Promise<Worlds> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'parley-contracts-')))
  const path = [dirname(process.execPath), io.env['PATH'] ?? ''].join(delimiter)
  const pattern = join(base, 'pattern')
  let isFilled: Promise<void> | undefined
  let last = 0
  const open = async (settings: ScenarioSettings, answers: readonly ModelAnswer[]): Promise<RecordingWorld> => {
    await using made = new AsyncDisposableStack()
    const folder = join(base, String((last += 1)))
    const [home, work, data] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'data')]
    made.defer(() => remove(folder))
    await Promise.all([home, data].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
    isFilled ??= fillWork(processes, pattern, { PATH: path, HOME: base, ...GIT })
    await isFilled
    await cp(pattern, work, { recursive: true })
    const model = made.use(await openLoopbackModel(answers, io.random))
    const config = codexConfig(settings, model.url)
    // Our own engine reads the same form in a folder of its own.
    await Promise.all([home, data].map((each) => writeFile(join(each, 'config.toml'), config)))
    const env = {
      PATH: path,
      HOME: folder,
      CODEX_HOME: home,
      [MODEL_KEY.name]: MODEL_KEY.value,
      // For a server of ours, which needs no Codex.
      PARLEY_DATA_DIR: data,
      PARLEY_MODEL_BASE_URL: model.url,
      PARLEY_MODEL_API_KEY: MODEL_KEY.value,
      LANG: 'C.UTF-8',
      ...GIT,
    }
    const start = (args: readonly string[]) => {
      const all = server.isWhole ? server.args : [...server.args, ...args]
      return processes.start({ command: server.command, args: all, env, cwd: work })
    }
    const finish = made.move()
    return { places: { work, home, modelUrl: model.url }, start, [Symbol.asyncDispose]: () => finish.disposeAsync() }
  }
  return { open, [Symbol.asyncDispose]: () => remove(base) }
}

/** A server that was just stopped may still be writing a line of its log. */
const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })

/** What the scenarios find: a picture, a repository with a remote and a change, and files to look for. */
async function fillWork(processes: Processes, work: string, env: Readonly<Record<string, string>>): Promise<void> {
  const repo = join(work, 'repo')
  await mkdir(join(work, 'plain'), { recursive: true })
  await writeFile(join(work, 'plain/dot.png'), Buffer.from(DOT, 'base64'))
  await mkdir(repo)
  await writeFile(join(repo, 'ranking.txt'), 'one\n')
  for (const line of [
    'init --quiet --initial-branch=main',
    'add .',
    'commit --quiet --message=first',
    'clone --quiet --bare . ../remote.git',
    'remote add origin ../remote.git',
    'fetch --quiet origin',
    'branch --quiet --set-upstream-to=origin/main',
  ]) {
    const spec = { command: 'git', args: line.split(' '), env, cwd: repo }
    const done = await capture(processes, spec, { timeoutMs: GIT_MS, maxBytes: GIT_BYTES })
    if (done.kind === 'ended' && done.exit.code === 0) continue
    const why = done.kind === 'ended' ? done.stderr.trim() : 'it did not end'
    throw new CommandError('git_failed', `git ${line} failed: ${why}`, { hint: 'git is needed to make a repository to try' })
  }
  await writeFile(join(repo, 'ranking.txt'), 'one\ntwo\n')
  await writeFile(join(repo, 'new.txt'), 'new\n')
}
