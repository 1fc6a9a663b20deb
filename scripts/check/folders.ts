import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Edge, circlesIn, edgesBetween } from './circles.ts'
import { listFiles } from './files.ts'
import type { Part } from './part.ts'
import { type Room, loadRooms } from './rooms.ts'
import { isProduct } from './shipped.ts'

const FILES_PER_FOLDER = 25
const LINES_PER_ROOM = 12_000
/** Rooms that are longer, and how long they may be. Empty is right: what is here waits to become two rooms, and grows no further. */
const LONGER: ReadonlyMap<string, number> = new Map([
  ['gateway', 12_450],
  ['cli', 12_270],
])

/** Inside a room imports go one way as well: folders stand in the order that `rooms.json` says, and none gets too full. */
export const foldersPart: Part = {
  name: 'folders',
  run: (root) => Promise.resolve(checkFolders(root)),
}

export function checkFolders(root: string): readonly string[] {
  return loadRooms(root)
    .rooms.filter((room) => !room.planned && existsSync(join(root, 'packages', room.name, 'src')))
    .flatMap((room) => checkRoom(root, room))
}

function checkRoom(root: string, room: Room): readonly string[] {
  const folder = join(root, 'packages', room.name, 'src')
  const files = listFiles(folder).filter(isProduct)
  const edges = edgesBetween(folder, files)
  return [
    ...checkOrder(room, files, edges),
    ...circlesIn(edges).map((circle) => `packages/${room.name}: a circle: ${circle}`),
    ...checkFullness(room.name, files),
    ...checkLines(room.name, folder, files),
  ]
}

/** Each folder is named, and imports only those named before it. */
function checkOrder({ name, folders }: Room, files: readonly string[], edges: readonly Edge[]): readonly string[] {
  const there = new Set(files.map(topOf).filter((top) => top !== undefined))
  const missing = [...there].filter((top) => !folders.includes(top))
  const gone = folders.filter((top) => !there.has(top))
  const wrong = edges.flatMap(({ from, to }) => {
    const [above, below] = [topOf(from), topOf(to)]
    if (above === undefined || below === undefined || above === below) return []
    return folders.indexOf(below) > folders.indexOf(above) ? [`${from} imports ${to}, whose folder stands above it`] : []
  })
  return [
    ...missing.map((top) => `rooms.json: ${name} has a folder ${top} that its "folders" does not name`),
    ...gone.map((top) => `rooms.json: ${name} has no folder ${top}`),
    ...(missing.length === 0 ? wrong.map((complaint) => `packages/${name}: ${complaint} in rooms.json`) : []),
  ]
}

function checkFullness(room: string, files: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const path of files) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > FILES_PER_FOLDER)
    .map(
      ([folder, count]) =>
        `packages/${room}/src/${folder} has ${count} files, ${FILES_PER_FOLDER} at most: give its nouns folders`,
    )
}

function checkLines(room: string, folder: string, files: readonly string[]): readonly string[] {
  const lines = files.reduce((sum, path) => sum + readFileSync(join(folder, path), 'utf8').trimEnd().split('\n').length, 0)
  const limit = LONGER.get(room) ?? LINES_PER_ROOM
  return lines > limit ? [`packages/${room} has ${lines} lines, ${limit} at most: it is two rooms`] : []
}

const topOf = (path: string): string | undefined => (path.includes('/') ? path.split('/')[0] : undefined)
