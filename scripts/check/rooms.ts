import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One workspace as `rooms.json` declares it. A planned one has no folder yet. */
export interface Room {
  readonly name: string
  readonly planned: boolean
  /** Exempt rooms may import what other rooms own: they measure, they do not ship. */
  readonly exempt: boolean
  /** Rooms it may import; `rpc/browser` means that entry of `rpc` and no other. */
  readonly imports: readonly string[]
  /** Rooms that its tests and their fixtures may import beside those below it, such as an engine for a port that it uses. */
  readonly tests: readonly string[]
  /** The folders of its `src` from the ground up: one imports only those before it. */
  readonly folders: readonly string[]
  readonly does: string
}

/** The whole of `rooms.json`: the arrows between rooms, and who owns the imports that can do harm. */
export interface Rooms {
  readonly scope: string
  readonly rooms: readonly Room[]
  readonly importOwners: ReadonlyMap<string, readonly string[]>
  /** Names of owned modules that anybody may import: they open nothing. */
  readonly harmless: ReadonlyMap<string, readonly string[]>
  readonly globalOwners: ReadonlyMap<string, readonly string[]>
}

/** Reads the data file and refuses one that contradicts itself: unknown rooms, arrows in a circle. */
export function loadRooms(root: string): Rooms {
  const file: unknown = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8'))
  const top = record(file, 'rooms.json')
  const owners = record(top['owners'], 'owners')
  const rooms = {
    scope: text(top['scope'], 'scope'),
    rooms: list(top['rooms'], 'rooms').map(parseRoom),
    importOwners: listsOf(owners['imports'], 'owners.imports'),
    harmless: listsOf(owners['harmless'], 'owners.harmless'),
    globalOwners: listsOf(owners['globals'], 'owners.globals'),
  }
  refuseNonsense(rooms)
  return rooms
}

function parseRoom(value: unknown, index: number): Room {
  const where = `rooms[${index}]`
  const room = record(value, where)
  return {
    name: text(room['name'], `${where}.name`),
    planned: room['planned'] === true,
    exempt: room['exempt'] === true,
    imports: texts(room['imports'], `${where}.imports`),
    tests: texts(room['tests'] ?? [], `${where}.tests`),
    folders: texts(room['folders'] ?? [], `${where}.folders`),
    does: text(room['does'], `${where}.does`),
  }
}

function listsOf(value: unknown, where: string): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(record(value, where))
  return new Map(entries.map(([name, items]) => [name, texts(items, `${where}.${name}`)]))
}

/** A room may only import rooms that stand before it in the file: then there is no circle, and the file reads from the ground up. */
function refuseNonsense({ rooms, importOwners, globalOwners }: Rooms): void {
  const seen = new Set<string>()
  for (const room of rooms) {
    for (const target of [...room.imports, ...room.tests]) {
      const [name = ''] = target.split('/')
      if (!seen.has(name)) throw new TypeError(`rooms.json: ${room.name} imports ${target}, which does not stand before it`)
    }
    seen.add(room.name)
  }
  for (const [what, owners] of [...importOwners, ...globalOwners]) {
    const unknown = owners.find((owner) => !seen.has(owner))
    if (unknown !== undefined) throw new TypeError(`rooms.json: ${what} is owned by ${unknown}, which is no room`)
  }
}

function record(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`rooms.json: ${where} must be an object`)
  return Object.fromEntries(Object.entries(value))
}
function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`rooms.json: ${where} must be a list`)
  return value
}
const texts = (value: unknown, where: string): readonly string[] => list(value, where).map((item) => text(item, where))
function text(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new TypeError(`rooms.json: ${where} must be text`)
  return value
}
