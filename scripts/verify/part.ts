import { globSync } from 'node:fs'
import type { Rooms } from '../check/rooms.ts'
import parts from './parts.json' with { type: 'json' }

/** One part of `npm run verify`: tests against foreign versions and programs that take too long for `npm test`. */
export interface Part {
  readonly name: string
  readonly what: string
  /** Its test files; their names end in `.verify.test.ts`. */
  readonly files: readonly string[]
  /** The rooms that it tests. It depends on all that these and their tests import, too. */
  readonly rooms: readonly string[]
  /** Files beside them that it reads, though they are none of a room. */
  readonly paths?: readonly string[]
  /** How long it takes on two cores. */
  readonly minutes: number
}

export const PARTS: readonly Part[] = parts

/** The test files of a part, as paths from the root. */
export function filesOf(part: Part, root: string): readonly string[] {
  return globSync([...part.files], { cwd: root, exclude: ['**/node_modules/**'] }).toSorted()
}

/** The rooms that a part depends on: its own and all that they and their tests import, near and far. */
export function roomsOf(part: Part, { rooms }: Pick<Rooms, 'rooms'>): ReadonlySet<string> {
  const found = new Set(part.rooms)
  for (const name of found) {
    const room = rooms.find((candidate) => candidate.name === name)
    if (room === undefined) throw new TypeError(`parts.json: ${part.name} depends on ${name}, which is no room`)
    for (const target of [...room.imports, ...room.tests]) found.add(target.split('/')[0] ?? target)
  }
  return found
}
