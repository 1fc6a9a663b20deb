import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { findBehindShim } from './find-languages.ts'
import type { ToolPlaces } from './find-tool.ts'

/** A program of this machine, and what of it must be readable for it to run. */
export interface FoundProgram {
  readonly path: string
  /** The folder of the program itself, where that is none of the system's. */
  readonly readable: readonly string[]
}

export type ProgramSearch =
  | ({ readonly kind: 'found' } & FoundProgram)
  | { readonly kind: 'missing' }
  /** A version manager's, and what it stands for is not known. */
  | { readonly kind: 'shim'; readonly path: string }

/** Inside, the system is there already. */
const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/', '/lib64/']
/** So version managers call the folder of their shims. */
const SHIMS = 'shims'

/** Looks a command up as a shell does, by its path or on PATH save its relative places, and goes behind the shim of a version manager as a judge does. */
export async function findProgram(
  command: string,
  { path, cwd, homeFolder }: { readonly path: readonly string[]; readonly cwd: string } & Pick<ToolPlaces, 'homeFolder'>,
): Promise<ProgramSearch> {
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : path.filter((folder) => isAbsolute(folder)).map((folder) => join(folder, command))
  const found = candidates.find(isProgram)
  if (found === undefined) return { kind: 'missing' }
  const [behind] = await findBehindShim(found, homeFolder === undefined ? {} : { homeFolder })
  if (behind !== undefined) return { kind: 'found', ...behind }
  if (basename(dirname(found)) === SHIMS) return { kind: 'shim', path: found }
  const seen = [found, realpathSync(found)].filter((file) => !isSystem(file)).map((file) => shownFor(file, homeFolder))
  return { kind: 'found', path: found, readable: [...new Set(seen)] }
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
