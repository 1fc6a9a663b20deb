import { mkdir } from 'node:fs/promises'
import { BoxBusy } from '../box-busy.ts'
import { failedOutcome } from '../defaults.ts'
import { checkRequest } from '../check-request.ts'
import type {
  Box,
  BoxProfile,
  InteractOutcome,
  InteractRequest,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxReport,
} from '../sandbox.ts'
import { type BoxFolder, keepFile, makeBoxFolder, sweepBoxFolders } from './box-folder.ts'
import type { LeasedUser } from './leased-user.ts'
import { feed, type SpawnedCommand, type SpawnedRun, startRun } from './spawned-run.ts'

/** For reports: what a process waited is gone when Node hears of its end. */
export const STARVED_PARTNER =
  'a program that waits for an interactor which is starved is taken for idle: needs the `cage` driver'

/** What a command is made for: the box's folder, its profile, and the user that it runs as where that is not ours. */
export interface BoxPlace {
  readonly folder: BoxFolder
  readonly profile: BoxProfile
  readonly user?: LeasedUser
}
/** Makes the command that runs a request in its place. */
export type Wrap = (request: RunRequest, place: BoxPlace) => SpawnedCommand
/** How boxes are made: the command of each run, and the user of each box where it has one of its own. */
export interface SpawnedDriver {
  readonly wrap: Wrap
  readonly lease?: () => Promise<LeasedUser>
}

/** A sandbox that starts every program from here, each wrapped in a command that isolates it as well as that command can. */
export async function spawnedSandbox(report: SandboxReport, runFolder: string, driver: SpawnedDriver): Promise<Sandbox> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 })
  await sweepBoxFolders(runFolder)
  return {
    report,
    openBox: async (profile) => new SpawnedBox({ runFolder, profile, wrap: driver.wrap, user: await driver.lease?.() }),
    interact: (program, interactor, request, signal) => {
      if (!(program instanceof SpawnedBox) || !(interactor instanceof SpawnedBox) || program === interactor) {
        throw new TypeError('interact needs two different boxes of this sandbox')
      }
      return interact(program, interactor, request, signal)
    },
  }
}

interface BoxParts {
  readonly runFolder: string
  readonly profile: BoxProfile
  readonly wrap: Wrap
  readonly user: LeasedUser | undefined
}

class SpawnedBox implements Box {
  readonly #parts: BoxParts
  readonly #closing = new AbortController()
  #running: Promise<unknown> | null = null

  constructor(parts: BoxParts) {
    this.#parts = parts
  }

  run(request: RunRequest, signal?: AbortSignal): Promise<RunOutcome> {
    return this.within(
      request,
      async (run) => {
        feed(run.stdin, request.stdin)
        return (await run.finish()).outcome
      },
      signal,
    )
  }

  /** Makes the box's folder, starts the program, has `carry` see it through, and takes out what is to be kept. */
  async within(
    request: RunRequest,
    carry: (run: SpawnedRun) => Promise<Omit<RunOutcome, 'kept'>>,
    signal?: AbortSignal,
  ): Promise<RunOutcome> {
    if (this.#running !== null) throw new BoxBusy()
    checkRequest(request)
    const work = this.#work(
      request,
      carry,
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]),
    )
    this.#running = work
    try {
      return await work
    } finally {
      this.#running = null
    }
  }

  async #work(
    request: RunRequest,
    carry: (run: SpawnedRun) => Promise<Omit<RunOutcome, 'kept'>>,
    signal: AbortSignal,
  ): Promise<RunOutcome> {
    const { runFolder, profile, wrap, user } = this.#parts
    let folder: BoxFolder
    try {
      folder = await makeBoxFolder(runFolder, request.files ?? [], user?.uid)
    } catch (error) {
      return failedOutcome(`the box cannot be filled: ${String(error)}`)
    }
    try {
      const outcome = await carry(
        startRun(wrap(request, { folder, profile, ...(user === undefined ? {} : { user }) }), request, signal),
      )
      const kept: string[] = []
      let { message } = outcome
      for (const file of request.keep ?? []) {
        const problem = await keepFile(folder.box, file)
        if (problem === null) kept.push(file.name)
        else message = problem
      }
      return { ...outcome, kept, message }
    } finally {
      await folder.remove()
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
    await this.#parts.user?.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

async function interact(
  program: SpawnedBox,
  interactor: SpawnedBox,
  request: InteractRequest,
  signal?: AbortSignal,
): Promise<InteractOutcome> {
  const captureBytes = { stdout: 0, stderr: request.captureBytes }
  const started = { program: Promise.withResolvers<SpawnedRun>(), interactor: Promise.withResolvers<SpawnedRun>() }
  const endedAtMs = { program: 0, interactor: 0 }
  const side = (name: 'program' | 'interactor', other: 'program' | 'interactor', box: SpawnedBox): Promise<RunOutcome> =>
    box.within(
      { ...request[name], captureBytes },
      async (run) => {
        started[name].resolve(run)
        const partner = await started[other].promise
        const ended = await run.finish(partner.stdin)
        endedAtMs[name] = ended.endedAtMs
        return ended.outcome
      },
      signal,
    )
  const [one, two] = await Promise.all([side('program', 'interactor', program), side('interactor', 'program', interactor)])
  return { program: one, interactor: two, endedFirst: endedAtMs.program <= endedAtMs.interactor ? 'program' : 'interactor' }
}
