import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Programs } from '../process/programs.ts'
import type { RecordingWorld } from '../record/record-scenario.ts'
import type { ScenarioAnswer, ScenarioSettings } from '../record/scenario.ts'
import { MODEL_KEY, codexConfig } from './codex-config.ts'
import { openLoopbackModel } from './loopback-model.ts'
import { GIT, fillWorkFolder } from './work-folder.ts'

/** What is run for each scenario. A whole command is run as it is; a Codex gets the arguments of its dialect behind its own. */
export interface Server {
  readonly command: string
  readonly args: readonly string[]
  readonly isWhole: boolean
}

export interface WorldsOptions {
  readonly server: Server
  readonly programs: Programs
  /** The search path of the server and of git. */
  readonly path: string
  readonly random: (bytes: number) => Uint8Array
}

/** Where scenarios are played; the working folder is made once and copied for each. */
export interface Worlds extends AsyncDisposable {
  /** Throws `WorkFolderFailed`. */
  readonly open: (settings: ScenarioSettings, answers: readonly ScenarioAnswer[]) => Promise<RecordingWorld>
}

/** Each scenario gets a private home, a working folder, a loopback model, and a server of its own. */
export async function openWorlds({ server, programs, path, random }: WorldsOptions): Promise<Worlds> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'parley-contracts-')))
  const pattern = join(base, 'pattern')
  let isFilled: Promise<void> | undefined
  let last = 0
  const open = async (settings: ScenarioSettings, answers: readonly ScenarioAnswer[]): Promise<RecordingWorld> => {
    await using made = new AsyncDisposableStack()
    const folder = join(base, String((last += 1)))
    const [home, work, data] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'data')]
    made.defer(() => remove(folder))
    await Promise.all([home, data].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
    isFilled ??= fillWorkFolder(pattern, { programs, path })
    await isFilled
    await cp(pattern, work, { recursive: true })
    const model = made.use(await openLoopbackModel(random))
    model.play(answers)
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
      return programs.start({ command: server.command, args: all, env, cwd: work })
    }
    const finish = made.move()
    return { places: { work, home, modelUrl: model.url }, start, [Symbol.asyncDispose]: () => finish.disposeAsync() }
  }
  return { open, [Symbol.asyncDispose]: () => remove(base) }
}

/** A server that was just stopped may still be writing a line of its log. */
const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
