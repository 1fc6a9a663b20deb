import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { foreignHandOn } from '@parley/sandbox'

const ROOT = dirname(dirname(import.meta.dirname))

/** What is kept there. */
export type CacheKind = 'peers' | 'flake'

/** No folder for what was downloaded can be written, or others could write it as well. Set PARLEY_CACHE to one of your own. */
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

/** The first of the places that can be written, by nobody else, with a word on standard error when it is not the wanted one. */
export async function openCache(kind: CacheKind, options: CacheOptions = {}): Promise<string> {
  const { places = cachePlaces(), suffices = () => Promise.resolve(false) } = options
  const refused: string[] = []
  for (const place of places) {
    const folder = join(place, kind)
    const reason = (await foreignReason(folder)) ?? ((await suffices(folder)) ? undefined : await refusalOf(folder))
    if (reason === undefined) {
      if (refused.length > 0) process.stderr.write(`cache: ${refused.join(', ')}; ${place} is used instead\n`)
      return folder
    }
    refused.push(`${place} ${reason}`)
  }
  throw new CacheUnavailable(`${refused.join(', ')}: set PARLEY_CACHE to a folder that you alone can write`)
}

/** Whoever can write into the clone needs no cache to have a program run: its own place is as good as the clone is. */
async function foreignReason(folder: string): Promise<string | undefined> {
  if (folder.startsWith(join(ROOT, '.cache'))) return undefined
  const hand = await foreignHandOn(folder)
  return hand === undefined ? undefined : `is not safe (${hand})`
}

async function refusalOf(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true })
    await access(folder, constants.W_OK)
    return undefined
  } catch (error) {
    return `cannot be written (${error instanceof Error && 'code' in error ? String(error.code) : String(error)})`
  }
}
