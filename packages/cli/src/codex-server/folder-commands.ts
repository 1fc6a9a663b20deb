import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Toolchains, unseenProgram } from '@parley/sandbox'
import type { LazyProcesses } from '@parley/executor'
import { type CommandOutcome, type CommandRequest, refusedCommand } from '@parley/agent'
import { type FolderCommands, type StartCommand, runFreely } from '@parley/codex-server'
import type { HeldNames, SandboxCommands } from '@parley/workspace'
import { isWithin, makeFolder } from '@parley/command-line/commands'
import type { OwnPlaces } from '../config/own-places.ts'
import { heldNames } from '../trust/held-names.ts'
import type { LazySandbox } from './lazy-sandbox.ts'
import { wholeEnv } from '../process/program-env.ts'

export interface CommandsPorts {
  readonly processes: LazyProcesses
  readonly env: Readonly<Record<string, string | undefined>>
  readonly sandbox: LazySandbox
  /** What no command in a sandbox may see. */
  readonly own: OwnPlaces
  readonly toolchains: Toolchains
  readonly warn: (message: string) => void
}

/** So shells say that there is no such program. */
const NOT_FOUND = 127
const STDERR_READ_BYTES = 4096

/**
 * Commands of conversations and one-off ones. Whoever may do anything runs as the user, all others in the sandbox, which is
 * opened with the first of them. Where none can hold them, they are refused.
 */
export function openCommands(ports: CommandsPorts): (folder: string) => FolderCommands {
  return (folder) => {
    let boxed: Promise<SandboxCommands | string> | undefined
    const inSandbox = async (): Promise<SandboxCommands | string> => {
      const held = await ports.sandbox()
      if (typeof held === 'string') return held
      const { openSandboxCommands } = await import('@parley/workspace')
      if (ports.own.folders.some((path) => isWithin(folder, path)))
        return `${folder} lies in what no command may see: Parley keeps its data, settings and keys there`
      const { toolchains, warn, env, own } = ports
      const hidden = own.folders.filter((path) => isCoverable(path, folder))
      const names = () => withFiles(heldNames(folder, env), folder, own.files)
      return openSandboxCommands({ sandbox: held, folder, hidden, names, ...toolchains, warn, network: true })
    }
    const closing = new AbortController()
    return {
      run: async (request, output, signal) => {
        const either = AbortSignal.any([signal, closing.signal])
        if (either.aborted) return refusedCommand('the command was cancelled before it began')
        if (request.reach === 'full-access') return runFreely(request, output, either, starter(ports))
        boxed ??= inSandbox()
        const commands = await boxed
        if (typeof commands === 'string') return refusedCommand(commands)
        const outcome = await commands.run(request, output, either)
        const unseen = outcome.exitCode === NOT_FOUND ? unseenIn(request, outcome, ports) : undefined
        return unseen === undefined ? outcome : { ...outcome, message: unseen }
      },
      close: async () => {
        closing.abort()
        const commands = await boxed
        if (commands !== undefined && typeof commands !== 'string') await commands.close()
      },
    }
  }
}

/** Files in the working folder are held by their names, so that none can be made anew once its owner removed it. */
function withFiles({ hidden, placeholders }: HeldNames, folder: string, files: readonly string[]): HeldNames {
  const isHeld = (path: string): boolean => existsSync(dirname(path)) && isWithin(dirname(path), folder)
  return {
    hidden: [...hidden, ...files.filter((path) => existsSync(path) && !isHeld(path))],
    placeholders: [...placeholders, ...files.filter(isHeld).map((path) => ({ path, kind: 'file' }) as const)],
  }
}

/**
 * Only what is there can be covered. Where a person works in their home, what is missing is made: a command could make it
 * otherwise, and it would be taken for the person's own.
 */
function isCoverable(path: string, folder: string): boolean {
  if (!existsSync(path) && isWithin(path, folder)) makeFolder(path)
  return existsSync(path)
}

/** A shell says which program it did not find; where the person has it, they can show it. */
function unseenIn({ argv }: CommandRequest, { stderr }: CommandOutcome, { env, toolchains }: CommandsPorts): string | undefined {
  const said = /(?:^|\s)([\w.+-]+): (?:command )?not found/m.exec(Buffer.from(stderr.subarray(-STDERR_READ_BYTES)).toString())
  const unseen = unseenProgram(said?.[1] ?? argv[0] ?? '', env, toolchains.readable)
  if (unseen === undefined) return undefined
  const setting = `[sandbox] read = [${JSON.stringify(unseen.folder)}]`
  return `${unseen.path} is not shown in the sandbox; ${setting} in your settings shows it`
}

/** As the user, with all that they have. */
const starter =
  ({ processes, env }: CommandsPorts): StartCommand =>
  (call) =>
    processes.start({ ...call, env: wholeEnv(env) })
