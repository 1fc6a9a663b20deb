import { closeSync, openSync, readSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isWithin, type RealPath, realPathOf } from './real-path.ts'
import { SandboxUnavailable } from '../sandbox.ts'
import { SYSTEM_FOLDERS } from './settle-profile.ts'

/** Something that a program needs to start and the box does not show. */
export interface UnseenPart {
  readonly path: string
  /** What it is to the program: itself, what a link leads to, what runs a script. */
  readonly part: 'program' | 'target' | 'interpreter'
  /** The folder to show it by. */
  readonly folder: string
}

/** As much as the kernel reads of a script to find what runs it. */
const FIRST_LINE_BYTES = 256

/**
 * What keeps a program from being started in a box that shows these folders beside the system's; undefined: nothing that is known. Of what the box
 * does not show nothing is told that is not in the path already: neither whether it is there nor where its links lead.
 */
export function unseenPart(program: string, shown: readonly string[]): UnseenPart | undefined {
  const unseen = unseenOn(program, shown)
  if (unseen !== undefined) return partOf(unseen, unseen === program ? 'program' : 'target')
  const interpreter = interpreterOf(program)
  const missing = interpreter === undefined ? undefined : unseenOn(interpreter, shown)
  return missing === undefined ? undefined : partOf(missing, 'interpreter')
}

/** The path itself, or the first link's target on its way, that is in none of these folders. */
function unseenOn(path: string, shown: readonly string[]): string | undefined {
  const folders = [...SYSTEM_FOLDERS, ...shown].map(realPathOf)
  const isSeen = (place: string): boolean => folders.some((folder) => isWithin(place, folder.path) || folder.links.has(place))
  const real = lookedAt(path)
  if (real === undefined) return path
  // Until the first link that is seen, what the box lacks is the path as it was given.
  let named = path
  for (const [link, target] of real.links) {
    if (!isSeen(link)) return named
    if (!folders.some(({ links }) => links.has(link))) named = target
  }
  return isSeen(real.path) ? undefined : named
}

function lookedAt(path: string): RealPath | undefined {
  try {
    return realPathOf(path)
  } catch (error) {
    if (error instanceof SandboxUnavailable) return undefined
    throw error
  }
}

function interpreterOf(program: string): string | undefined {
  try {
    const file = openSync(program, 'r')
    try {
      const bytes = Buffer.alloc(FIRST_LINE_BYTES)
      const [line = ''] = bytes.toString('latin1', 0, readSync(file, bytes)).split('\n')
      return /^#![ \t]*(\/[^ \t\r\0]+)/.exec(line)?.[1]
    } finally {
      closeSync(file)
    }
  } catch {
    // A program may be run and not read.
    return undefined
  }
}

function partOf(path: string, part: UnseenPart['part']): UnseenPart {
  return { path, part, folder: folderOf(path) }
}

/** Programs that npm installed need the packages beside theirs, others often what lies beside their `bin`. */
function folderOf(path: string): string {
  const modules = path.indexOf('/node_modules/')
  if (modules >= 0) return path.slice(0, modules + '/node_modules'.length)
  const folder = dirname(path)
  return basename(folder) === 'bin' && dirname(folder) !== '/' ? dirname(folder) : folder
}
