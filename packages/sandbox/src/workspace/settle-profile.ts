import { basename, dirname, join } from 'node:path'
import type { BoxProfile } from '../sandbox.ts'
import { gitFoldersOf } from './git-folders.ts'
import { type RealPath, isWithin, realPathOf, refusal } from './real-path.ts'

export type WorkspaceProfile = Extract<BoxProfile, { readonly kind: 'workspace' }>

/** A workspace profile with nothing left to find out: every path is real, and none is doubtful. */
export interface SettledWorkspace {
  readonly folder: string
  readonly isWritable: boolean
  readonly alsoWritable: readonly string[]
  readonly readable: readonly string[]
  readonly hidden: readonly string[]
  /** Names to be made and covered; those of folders end with a slash. */
  readonly placeholders: readonly string[]
  /** Links on the way to these paths, each with where it leads, so that they work as they were given. */
  readonly links: ReadonlyMap<string, string>
}

/** Folders of the system that every program may read. */
export const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Follows all links and refuses what cannot be held. Throws `SandboxUnavailable`. */
export function settleWorkspace(profile: WorkspaceProfile): SettledWorkspace {
  const links = new Map<string, string>()
  const shown = (path: string): string => {
    const real = realPathOf(path)
    if (!real.isThere) throw refusal(path, 'is not there')
    for (const [link, target] of real.links) links.set(link, target)
    return real.path
  }
  const folder = shown(profile.folder)
  if (profile.unlinked === true && folder !== profile.folder)
    throw refusal(profile.folder, `leads to ${folder} by now, which is not where the work began`)
  const alsoWritable = (profile.alsoWritable ?? []).map(shown)
  const socket = typeof profile.network === 'object' ? [profile.network.socketPath] : []
  const hidden = (profile.hidden ?? []).map(realPathOf)
  const writable = profile.writable ? [folder, ...alsoWritable] : alsoWritable
  checkHidden(folder, hidden, writable)
  const readable = [...(profile.readable ?? []), ...socket].map(shown)
  const repository = gitFoldersOf(folder).filter((path) => !hidden.some((secret) => isWithin(path, secret.path)))
  for (const path of [folder, ...alsoWritable, ...readable])
    if (path === '/') throw refusal(path, 'is the whole machine, which no program in the sandbox may see')
  const names = (profile.placeholders ?? []).map(({ path, kind }) => ({ path: join(shown(dirname(path)), basename(path)), kind }))
  const isMade = ({ path }: { readonly path: string }): boolean => writable.some((place) => isWithin(path, place))
  // Where nothing can be made, only what is there needs a cover.
  const covered = names.filter((name) => !isMade(name)).map(({ path }) => realPathOf(path))
  return {
    folder,
    isWritable: profile.writable,
    alsoWritable,
    readable: [...new Set([...readable, ...repository])],
    placeholders: [...new Set(names.filter(isMade).map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path)))],
    hidden: [...new Set([...hidden, ...covered].filter(({ isThere }) => isThere).map(({ path }) => path))].filter(
      (path) => !names.some((name) => isMade(name) && name.path === path),
    ),
    links,
  }
}

function checkHidden(folder: string, hidden: readonly RealPath[], writable: readonly string[]): void {
  for (const { path, isThere } of hidden) {
    if (path === folder) throw refusal(folder, 'holds what no program in the sandbox may see, and cannot be worked in')
    // What is not there cannot be covered, and a program could make it.
    if (!isThere && writable.some((place) => isWithin(path, place))) throw refusal(path, 'is to be hidden and is not there')
  }
}

/** What is to be hidden and lies in something that is shown: a tier that cannot take away from what it grants cannot hold it. */
export function hiddenInSight({ folder, alsoWritable, readable, hidden }: SettledWorkspace): string | undefined {
  const shown = [folder, ...alsoWritable, ...readable, ...SYSTEM_FOLDERS]
  return hidden.find((path) => shown.some((place) => isWithin(path, place)))
}
