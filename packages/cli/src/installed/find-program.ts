import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { findBehindShim } from '@parley/judge'
import { CommandError } from '../command-line/command-error.ts'
import type { Io } from '../command-line/io.ts'
import { toolPlacesOf } from './tool-places.ts'

/** A program of this machine, and what of it must be readable for it to run. */
export interface FoundProgram {
  readonly path: string
  /** The folder of the program itself, where that is none of the system's. */
  readonly readable: readonly string[]
}

/** Inside, the system is there already. */
const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/', '/lib64/']
/** So version managers call the folder of their shims. */
const SHIMS = 'shims'
/** As shells have it. */
const NOT_FOUND_EXIT = 127

/** Looks a command up as a shell does, by its path or on PATH save its relative places, and goes behind the shim of a version manager as a judge does. */
export async function findProgram(command: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): Promise<FoundProgram> {
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : (env['PATH'] ?? '')
        .split(delimiter)
        .filter((folder) => isAbsolute(folder))
        .map((folder) => join(folder, command))
  const path = candidates.find(isProgram)
  if (path === undefined)
    throw new CommandError('command_not_found', `there is no program ${command}`, {
      hint: 'give its path, or check PATH',
      exitCode: NOT_FOUND_EXIT,
    })
  const { homeFolder } = toolPlacesOf(env)
  const [behind] = await findBehindShim(path, homeFolder === undefined ? {} : { homeFolder })
  if (behind !== undefined) return behind
  if (basename(dirname(path)) === SHIMS)
    throw new CommandError('command_not_found', `${path} is a shim of a version manager, which is not there inside the sandbox`, {
      hint: `give the path of the program itself: ${basename(dirname(dirname(path))).replace(/^\./, '')} which ${command} may tell it`,
      exitCode: NOT_FOUND_EXIT,
    })
  const real = realpathSync(path)
  const seen = [path, real].filter((file) => !isSystem(file)).map((file) => shownFor(file, homeFolder))
  return { path, readable: [...new Set(seen)] }
}

const isSystem = (path: string): boolean => SYSTEM.some((start) => path.startsWith(start))

/** A program finds its companions beside it; but of a home, or of all the machine, only the file itself is shown. */
function shownFor(file: string, homeFolder: string | undefined): string {
  const folder = dirname(file)
  const holdsHome = homeFolder !== undefined && `${homeFolder}/`.startsWith(folder === '/' ? '/' : `${folder}/`)
  return folder === '/' || holdsHome ? file : folder
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
