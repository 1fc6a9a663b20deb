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

/** Starts the program of a box that is filled, and sees it through. */
type Carry = (start: () => SpawnedRun) => Promise<Omit<RunOutcome, 'kept'>>

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
      async (start) => {
        const run = start()
        feed(run.stdin, request.stdin)
        return (await run.finish()).outcome
      },
      signal,
    )
  }

  /** Makes the box's folder, has `carry` start the program and see it through, and takes out what is to be kept. */
  async within(request: RunRequest, carry: Carry, signal?: AbortSignal): Promise<RunOutcome> {
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

  async #work(request: RunRequest, carry: Carry, signal: AbortSignal): Promise<RunOutcome> {
    const { runFolder, profile, wrap, user } = this.#parts
    let folder: BoxFolder
    try {
      folder = await makeBoxFolder(runFolder, request.files ?? [], user?.uid)
    } catch (error) {
      return failedOutcome(`the box cannot be filled: ${String(error)}`)
    }
    try {
      const outcome = await carry(() =>
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
  const filled = { program: Promise.withResolvers<boolean>(), interactor: Promise.withResolvers<boolean>() }
  const started = {
    program: Promise.withResolvers<SpawnedRun | undefined>(),
    interactor: Promise.withResolvers<SpawnedRun | undefined>(),
  }
  const endedAtMs = { program: 0, interactor: 0 }
  const carried =
    (name: 'program' | 'interactor', other: 'program' | 'interactor'): Carry =>
    async (start) => {
      filled[name].resolve(true)
      // Both start in one turn of the loop: what one of them says before somebody listens would be lost.
      const isPair = await filled[other].promise
      const run = start()
      started[name].resolve(run)
      const partner = isPair ? await started[other].promise : undefined
      // Nobody will ever say anything to it.
      if (partner === undefined) run.stdin.end()
      const ended = await run.finish(partner?.stdin)
      endedAtMs[name] = ended.endedAtMs
      return ended.outcome
    }
  const side = async (name: 'program' | 'interactor', other: 'program' | 'interactor', box: SpawnedBox): Promise<RunOutcome> => {
    try {
      return await box.within({ ...request[name], captureBytes }, carried(name, other), signal)
    } finally {
      // Where it never started the other one must not wait for it.
      filled[name].resolve(false)
      started[name].resolve(undefined)
    }
  }
  const [one, two] = await Promise.all([side('program', 'interactor', program), side('interactor', 'program', interactor)])
  return { program: one, interactor: two, endedFirst: endedAtMs.program <= endedAtMs.interactor ? 'program' : 'interactor' }
}
