import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const ROOT = dirname(dirname(import.meta.dirname))

/** What is kept there. */
export type CacheKind = 'peers' | 'flake'

/** No folder for what was downloaded can be written. Set PARLEY_CACHE to one that can. */
export class CacheUnavailable extends Error {
  readonly code = 'cache_unavailable'
}

/**
 * Where that may lie which can be had again, the wanted place first: `PARLEY_CACHE`, else the user's cache folder. It is outside the
 * clone, so that a second clone downloads nothing. The others are for whoever cannot write there; the last one is the clone's own.
 */
export function cachePlaces(env: NodeJS.ProcessEnv = process.env, root: string = ROOT): readonly string[] {
  const [named = '', cache = '', home = ''] = [env['PARLEY_CACHE'], env['XDG_CACHE_HOME'], env['HOME']]
  const places = [
    named === '' ? [] : [resolve(root, named)],
    cache === '' ? [] : [join(resolve(root, cache), 'parley')],
    home === '' ? [] : [join(resolve(root, home), '.cache', 'parley')],
    [join(root, '.cache')],
  ]
  return [...new Set(places.flat())]
}

export interface CacheOptions {
  readonly places?: readonly string[]
  /** A folder for which this holds need not be written. */
  readonly suffices?: (folder: string) => Promise<boolean>
}

/** The first of the places that can be written, with a word on standard error when it is not the wanted one. */
export async function openCache(kind: CacheKind, options: CacheOptions = {}): Promise<string> {
  const { places = cachePlaces(), suffices = () => Promise.resolve(false) } = options
  const refused: string[] = []
  for (const place of places) {
    const folder = join(place, kind)
    if (await suffices(folder)) return folder
    const reason = await refusalOf(folder)
    if (reason === undefined) {
      if (refused.length > 0) process.stderr.write(`cache: ${refused.join(', ')}; ${place} is used instead\n`)
      return folder
    }
    refused.push(`${place} cannot be written (${reason})`)
  }
  throw new CacheUnavailable(`${refused.join(', ')}: set PARLEY_CACHE to a folder that can be written`)
}

async function refusalOf(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true })
    await access(folder, constants.W_OK)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}
