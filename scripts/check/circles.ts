import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { isScript } from './files.ts'
import { reaches } from './imports.ts'

/** One import of a file by another of the same room, both as paths below its `src`. */
export interface Edge {
  readonly from: string
  readonly to: string
}

/** Which of the files in a folder import which others of them. */
export function edgesBetween(folder: string, files: readonly string[]): readonly Edge[] {
  const known = new Set(files)
  return files.filter(isScript).flatMap((path) =>
    reaches(path, readFileSync(join(folder, path), 'utf8'))
      .filter(({ kind, what }) => kind === 'import' && what.startsWith('.'))
      .map(({ what }) => ({ from: path, to: posix.join(posix.dirname(path), what) }))
      .filter(({ to }) => known.has(to)),
  )
}

/** Circles between what stands side by side in one folder, where at least one of it is a folder: the imports that close each. */
export function circlesIn(edges: readonly Edge[]): readonly string[] {
  const folders = new Set(edges.flatMap(({ from }) => foldersOf(from)))
  return [...folders].toSorted().flatMap((folder) => circlesBelow(folder, edges))
}

function circlesBelow(folder: string, edges: readonly Edge[]): readonly string[] {
  const arrows = arrowsBetween(folder, edges)
  const told = new Set<string>()
  return [...arrows.keys()].toSorted().flatMap((start) => {
    if (isScript(start) || told.has(start)) return []
    const way = wayBack(start, arrows)
    if (way === undefined) return []
    // A circle is told once, by the first of those that stand in it.
    for (const { from } of way) told.add(childOf(folder, from) ?? '')
    return [way.map(({ from, to }) => `${from} imports ${to}`).join(', ')]
  })
}

type Arrows = ReadonlyMap<string, ReadonlyMap<string, Edge>>

/** The imports between the children of a folder, one example each. */
function arrowsBetween(folder: string, edges: readonly Edge[]): Arrows {
  const arrows = new Map<string, Map<string, Edge>>()
  for (const edge of edges) {
    const from = childOf(folder, edge.from)
    const to = childOf(folder, edge.to)
    if (from === undefined || to === undefined || from === to) continue
    const targets = arrows.get(from) ?? new Map<string, Edge>()
    if (!targets.has(to)) targets.set(to, edge)
    arrows.set(from, targets)
  }
  return arrows
}

/** The shortest way from a child back to itself. */
function wayBack(start: string, arrows: Arrows): readonly Edge[] | undefined {
  const ways: { readonly at: string; readonly way: readonly Edge[] }[] = [{ at: start, way: [] }]
  const seen = new Set<string>()
  for (const { at, way } of ways) {
    for (const [next, edge] of arrows.get(at) ?? []) {
      if (next === start) return [...way, edge]
      if (seen.has(next)) continue
      seen.add(next)
      ways.push({ at: next, way: [...way, edge] })
    }
  }
  return undefined
}

/** Every folder that a file is in, `''` being the top. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return ['', ...parts.map((_part, index) => parts.slice(0, index + 1).join('/'))]
}

function childOf(folder: string, path: string): string | undefined {
  if (folder !== '' && !path.startsWith(`${folder}/`)) return undefined
  return path.slice(folder === '' ? 0 : folder.length + 1).split('/')[0]
}
