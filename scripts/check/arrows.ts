import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { isScript, isTest, listFiles } from './files.ts'
import { COMPUTED, type Reach, reaches } from './imports.ts'
import { type Manifest, loadManifest } from './manifest.ts'
import type { Part } from './part.ts'
import { type Room, type Rooms, loadRooms } from './rooms.ts'

/** Rooms import only what `rooms.json` allows, only declared entries, only declared dependencies, and nothing that others own. */
export const arrowsPart: Part = {
  name: 'arrows',
  run: (root) => Promise.resolve(checkArrows(root)),
}

export function checkArrows(root: string): readonly string[] {
  const rooms = loadRooms(root)
  const manifests = new Map(rooms.rooms.map((room) => [room.name, loadManifest(join(root, 'packages', room.name))]))
  const complaints = [...checkFolders(root, rooms, manifests)]
  const rootManifest = loadManifest(root)
  const used = new Set<string>()
  for (const path of listFiles(root).filter(isScript)) {
    const place = { path, room: roomOf(path, rooms), rooms, manifests, rootManifest }
    for (const reach of reaches(path, readFileSync(join(root, path), 'utf8'))) {
      if (place.room !== undefined && isShipped(path)) used.add(`${place.room.name} ${reach.what}`)
      const complaint = judge(reach, place)
      if (complaint !== undefined) complaints.push(`${path}:${reach.line} ${complaint}`)
    }
  }
  return [...complaints, ...unused(rooms, [...used])]
}

/** An arrow that nothing goes along, and an owner that does not use what it owns, allow what nobody has thought about. */
function* unused({ scope, rooms, importOwners, globalOwners }: Rooms, used: readonly string[]): Iterable<string> {
  const isUsed = (by: string, what: string): boolean =>
    used.some((one) => one === `${by} ${what}` || one.startsWith(`${by} ${what}/`))
  for (const { name, imports } of rooms.filter((room) => !room.exempt && !room.planned))
    for (const target of imports)
      if (!isUsed(name, `${scope}/${target}`)) yield `rooms.json: nothing in ${name} imports ${target}`
  for (const [what, owners] of [...importOwners, ...globalOwners])
    for (const owner of owners) if (!isUsed(owner, what)) yield `rooms.json: ${what} belongs to ${owner}, which does not use it`
}

/** Where a file stands, and all that is needed to say what it may reach. */
interface Place {
  readonly path: string
  readonly room: Room | undefined
  readonly rooms: Rooms
  readonly manifests: ReadonlyMap<string, Manifest | undefined>
  readonly rootManifest: Manifest | undefined
}

function judge(reach: Reach, place: Place): string | undefined {
  if (reach.kind === 'global') return judgeGlobal(reach.what, place)
  if (reach.what.startsWith('.')) return judgeRelative(reach.what, place)
  const { scope } = place.rooms
  if (reach.what === scope || reach.what.startsWith(`${scope}/`)) return judgeRoom(reach.what.slice(scope.length + 1), place)
  return judgeForeign(reach, place)
}

function judgeGlobal(what: string, { room, rooms, path }: Place): string | undefined {
  const owners = rooms.globalOwners.get(what)
  if (owners === undefined || room === undefined || isExempt(path, room) || owners.includes(room.name)) return undefined
  return `${what} belongs to ${owners.join(', ')}; take it as an argument`
}

function judgeRelative(what: string, { path, room }: Place): string | undefined {
  const target = posix.join(posix.dirname(path), what)
  if (room !== undefined && !target.startsWith(`packages/${room.name}/`)) {
    const isTool = target.startsWith('scripts/') && isExempt(path, room)
    return isTool ? undefined : `${what} leaves the room; import its public name`
  }
  if (room === undefined && /^packages\/[^/]+\/src\//.test(target) && !ROOT_MAY_ENTER.has(path)) {
    return `${what} reaches into a room; import its public name`
  }
  return undefined
}

/** The launcher loads the command line by path: package names are not resolvable before it has found its Node. */
const ROOT_MAY_ENTER = new Set(['bin/parley.js'])

function judgeRoom(target: string, { path, room, rooms, manifests }: Place): string | undefined {
  const [name = '', ...rest] = target.split('/')
  const manifest = manifests.get(name)
  if (manifest === undefined) return `${rooms.scope}/${target} is no room that exists`
  const entry = rest.length === 0 ? '.' : `./${rest.join('/')}`
  if (!manifest.entries.has(entry)) return `${rooms.scope}/${target} is not among the exports of ${name}`
  if (room === undefined) return undefined
  if (room.name === name) return `a room does not import itself by name; use a relative path`
  const allowed =
    room.imports.includes(name) ||
    room.imports.includes(target) ||
    (isTestFile(path) && isBelow(name, room, rooms.rooms)) ||
    (!isShipped(path) && room.tests.includes(name))
  if (!allowed) return `${room.name} may not import ${target}; it may import ${room.imports.join(', ') || 'no room'}`
  return undeclared(`${rooms.scope}/${name}`, manifests.get(room.name), isExempt(path, room))
}

function judgeForeign(
  { what, typeOnly, names }: Reach,
  { path, room, rooms, manifests, rootManifest }: Place,
): string | undefined {
  if (what === COMPUTED) {
    return room === undefined || isExempt(path, room)
      ? undefined
      : `an import whose name is computed cannot be checked; write it out`
  }
  const name = isBuiltin(what) ? `node:${what.replace(/^node:/, '')}` : packageName(what)
  const owners = rooms.importOwners.get(name)
  const harmless = rooms.harmless.get(name)
  const isHarmless =
    typeOnly || (names !== undefined && harmless !== undefined && names.every((taken) => harmless.includes(taken)))
  if (room !== undefined && owners !== undefined && !isHarmless && !isExempt(path, room) && !owners.includes(room.name)) {
    return `${name} belongs to ${owners.join(', ') || 'nobody'}; take what you need as a port`
  }
  if (isBuiltin(what)) return what.startsWith('node:') ? undefined : `write node:${what}`
  if (room === undefined) return undefined
  const fromRoot = isExempt(path, room) && (rootManifest?.devDependencies.has(name) ?? false)
  return fromRoot ? undefined : undeclared(name, manifests.get(room.name), isExempt(path, room) || typeOnly)
}

/** With workspaces every package of every room can be loaded from anywhere, so only this notices a missing declaration. */
function undeclared(name: string, manifest: Manifest | undefined, mayBeDev: boolean): string | undefined {
  if (manifest === undefined || manifest.dependencies.has(name)) return undefined
  if (mayBeDev && manifest.devDependencies.has(name)) return undefined
  return `${name} is not among the dependencies of ${manifest.name}`
}

function* checkFolders(
  root: string,
  { rooms, scope }: Rooms,
  manifests: ReadonlyMap<string, Manifest | undefined>,
): Iterable<string> {
  for (const room of rooms) {
    const folder = `packages/${room.name}`
    const manifest = manifests.get(room.name)
    if (room.planned && existsSync(join(root, folder))) yield `rooms.json: ${room.name} exists, so it is no longer planned`
    if (room.planned) continue
    if (manifest === undefined) yield `rooms.json: ${folder}/package.json is missing; say "planned" until it exists`
    else if (manifest.name !== `${scope}/${room.name}`) yield `${folder}/package.json: the name must be ${scope}/${room.name}`
    for (const dependency of manifest?.dependencies ?? []) {
      if (!dependency.startsWith(`${scope}/`)) continue
      const name = dependency.slice(scope.length + 1)
      if (!room.imports.some((target) => target.split('/')[0] === name))
        yield `${folder}/package.json: ${room.name} may not depend on ${name}`
    }
  }
  const known = new Set(rooms.map((room) => room.name))
  for (const path of listFiles(root)) {
    const name = /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1]
    if (name !== undefined && !known.has(name)) yield `${path}: ${name} is not in rooms.json`
  }
}

/** True when `room` can reach `name` over arrows: a test may look at what its room stands on. */
function isBelow(name: string, room: Room, rooms: readonly Room[]): boolean {
  return room.imports.some((target) => {
    const below = rooms.find((candidate) => candidate.name === target.split('/')[0])
    return below !== undefined && (below.name === name || isBelow(name, below, rooms))
  })
}

function roomOf(path: string, { rooms }: Rooms): Room | undefined {
  const name = /^packages\/([^/]+)\//.exec(path)?.[1]
  return rooms.find((room) => room.name === name)
}

const packageName = (what: string): string =>
  what
    .split('/')
    .slice(0, what.startsWith('@') ? 2 : 1)
    .join('/')
const isTestFile = (path: string): boolean => isTest(path) || /\/src\/testing\//.test(path)
/** Shipped code is what runs at somebody's; tests, fixtures and build configuration are not. */
const isShipped = (path: string): boolean => !isTestFile(path) && !path.endsWith('.config.ts') && !/\/fixture\//.test(path)
/** What is put into a box as it is runs there alone: it may do what the box lets it, and nothing of ours is around it. */
const isForBoxes = (path: string): boolean => /^packages\/[^/]+\/program\//.test(path)
const isExempt = (path: string, room: Room): boolean => room.exempt || !isShipped(path) || isForBoxes(path)
