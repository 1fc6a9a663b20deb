import { access, constants, glob, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { LanguageData } from './language-data.ts'

/** A command that may be what a language needs, and what a box must see of this machine so that it runs. */
export interface ToolCandidate {
  readonly path: string
  /** Where it really lies, with its companions. */
  readonly folder: string
  readonly readable: readonly string[]
}

export interface ToolPlaces {
  readonly searchPath: readonly string[]
  readonly nodePath: string
  /** The home of whoever runs the judge: no box ever shows it whole, wherever it lies. */
  readonly homeFolder?: string
}

/** A version manager may hold many; the newest ones are tried. */
const SHIM_CANDIDATES = 4
/** What every box shows anyway. */
const SYSTEM_FOLDERS = ['/usr/', '/bin/', '/sbin/', '/lib/']

/** Every command on this machine that could be the language's tool, the one to be tried first at the front. */
export async function findTools(data: LanguageData, places: ToolPlaces): Promise<readonly ToolCandidate[]> {
  const paths: string[] = []
  if (data.tool === 'own-node') paths.push(places.nodePath)
  else {
    for (const folder of places.searchPath) {
      paths.push(join(folder, data.tool))
      for (const pattern of data.behindShim) paths.push(...(await newest(join(folder, pattern, data.tool))))
    }
  }
  return candidatesAt(paths, data, places)
}

/** What a version manager's shim of this path stands for, the newest at the front; empty when it is no shim we know. */
export async function behindShim(
  path: string,
  patterns: readonly string[],
  places: Pick<ToolPlaces, 'homeFolder'>,
): Promise<readonly ToolCandidate[]> {
  const tool = basename(path)
  const found = await Promise.all(patterns.map((pattern) => newest(join(dirname(path), pattern, tool))))
  return candidatesAt([...new Set(found.flat())], { tool, needs: 'folder' }, places)
}

async function candidatesAt(
  paths: readonly string[],
  data: Pick<LanguageData, 'tool' | 'needs'>,
  places: Pick<ToolPlaces, 'homeFolder'>,
): Promise<readonly ToolCandidate[]> {
  const found = await Promise.all(paths.map((path) => candidateAt(path, data, places.homeFolder)))
  return found.filter((candidate) => candidate !== undefined)
}

async function newest(pattern: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const path of glob(pattern)) found.push(path)
  return found.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })).slice(0, SHIM_CANDIDATES)
}

async function candidateAt(
  path: string,
  data: Pick<LanguageData, 'tool' | 'needs'>,
  homeFolder: string | undefined,
): Promise<ToolCandidate | undefined> {
  try {
    await access(path, constants.X_OK)
    const real = await realpath(path)
    const folder = dirname(real)
    if (isSystem(path) && isSystem(real)) return { path, folder, readable: [] }
    // A version manager's shim goes by many names and finds its tools in places that no box shows.
    if (data.tool !== 'own-node' && !basename(real).startsWith(data.tool)) return undefined
    return { path: real, folder, readable: isSystem(real) ? [] : [(await toolHome(folder, data.needs, homeFolder)) ?? real] }
  } catch {
    return undefined
  }
}

const isSystem = (path: string): boolean => SYSTEM_FOLDERS.some((folder) => path.startsWith(folder))

/** The folder above `bin`, if it is a tool's own: a home, or a hidden folder such as `~/.local`, holds more than that. */
async function toolHome(
  folder: string,
  needs: LanguageData['needs'],
  homeFolder: string | undefined,
): Promise<string | undefined> {
  const home = dirname(folder)
  if (needs !== 'folder' || basename(folder) !== 'bin' || basename(home).startsWith('.')) return undefined
  if (/^\/(?:root|home\/[^/]+|Users\/[^/]+)?$/.test(home)) return undefined
  if (homeFolder !== undefined && `${homeFolder}/`.startsWith(`${home}/`)) return undefined
  const hasLibraries = await access(join(home, 'lib')).then(
    () => true,
    () => false,
  )
  return hasLibraries ? home : undefined
}
