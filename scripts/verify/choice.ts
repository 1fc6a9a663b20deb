import type { Rooms } from '../check/rooms.ts'
import { type Part, roomsOf } from './part.ts'

/** Which parts are run and which are left out, each with the reason in words. */
export interface Choice {
  readonly run: readonly Chosen[]
  readonly leftOut: readonly Chosen[]
}
export interface Chosen {
  readonly part: Part
  readonly why: string
}

/** Nothing that a part runs reads these, but for what a part names. */
const HARMLESS = [/^docs\//, /^[^/]+\.md$/, /^packages\/[^/]+\/README\.md$/, /^LICENSE$/, /^\.gitignore$/, /^\.ci\//]

/** The parts that these files touch. A file of no room that is not known to be harmless touches all of them. */
export function choose(parts: readonly Part[], changed: readonly string[], rooms: Pick<Rooms, 'rooms'>): Choice {
  const files = changed.filter((file) => !HARMLESS.some((pattern) => pattern.test(file)))
  const everywhere = files.find((file) => roomOf(file) === undefined)
  const reasons = parts.map((part) => {
    const depends = roomsOf(part, rooms)
    const own = files.find((file) => depends.has(roomOf(file) ?? '')) ?? part.paths?.find((path) => changed.includes(path))
    const cause = everywhere ?? own
    return { part, cause }
  })
  return {
    run: reasons.flatMap(({ part, cause }) => (cause === undefined ? [] : [{ part, why: `${cause} has changed` }])),
    leftOut: reasons.flatMap(({ part, cause }) => (cause === undefined ? [{ part, why: 'unchanged' }] : [])),
  }
}

function roomOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1]
}

/** What fits into the time, the shortest first, so that as much as can be is run. */
export function fit(choice: Choice, limitMinutes: number): Choice {
  const run: Chosen[] = []
  const late: Chosen[] = []
  let left = limitMinutes
  for (const chosen of choice.run.toSorted((one, other) => one.part.minutes - other.part.minutes)) {
    const { minutes } = chosen.part
    if (minutes > left) {
      late.push({ ...chosen, why: `no time left: it takes ${minutes} of the ${limitMinutes} minutes` })
      continue
    }
    left -= minutes
    run.push(chosen)
  }
  return { run, leftOut: [...choice.leftOut, ...late] }
}
