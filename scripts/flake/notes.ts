import { createHash, randomBytes } from 'node:crypto'
import {
  type Stats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { claimRun } from './claim.ts'
import { FORM, type Notes, parseNotes } from './parse-notes.ts'
import type { PlannedPart } from './plan.ts'
import type { FinishedPart } from './report.ts'

/** A run that is ours until we end: its folder holds its notes and its logs. */
export interface NotedRun {
  readonly folder: string
  readonly notes: Notes
}

const RUN = /^run-\d+-[0-9a-f]+$/
const WRITTEN_BY_OTHERS = 0o022

/** The folder of one clone: two of them do not go on with each other's runs. */
export function notesFolder(cache: string, root: string): string {
  return join(cache, createHash('sha256').update(root).digest('hex').slice(0, 16))
}

/** Begins a run in a folder of its own, and forgets those before; one that is still running stays. */
export function beginNotes(home: string, begun: Omit<Notes, 'form' | 'finished'>): NotedRun {
  const name = `${Date.now()}-${randomBytes(4).toString('hex')}`
  mkdirSync(home, { recursive: true, mode: 0o700 })
  forgetRuns(home)
  // It gets its name when it is claimed already: nobody may take it for one that was left.
  const fresh = join(home, `fresh-${name}`)
  mkdirSync(fresh, { mode: 0o700 })
  if (!claimRun(fresh)) throw new Error(`${fresh} cannot be written`)
  const folder = join(home, `run-${name}`)
  renameSync(fresh, folder)
  return { folder, notes: writeNotes(folder, { form: FORM, ...begun, finished: [] }) }
}

/** Only what is claimed is removed, so that nobody goes on with it meanwhile. */
function forgetRuns(home: string): void {
  for (const name of readdirSync(home))
    if (RUN.test(name) && claimRun(join(home, name))) rmSync(join(home, name), { recursive: true, force: true })
}

/** The newest run that nobody has; undefined when there is none that can be gone on with. */
export function resumeNotes(home: string): NotedRun | undefined {
  if (!isOurs(lstatSync(home, { throwIfNoEntry: false }))) return undefined
  const names = readdirSync(home).filter((name) => RUN.test(name))
  for (const name of names.toSorted().toReversed()) {
    const folder = join(home, name)
    if (!isOurs(lstatSync(folder, { throwIfNoEntry: false }))) continue
    const notes = readNotes(folder)
    if (notes !== undefined && claimRun(folder)) return { folder, notes: readNotes(folder) ?? notes }
  }
  return undefined
}

export function withFinished(notes: Notes, part: FinishedPart): Notes {
  return { ...notes, finished: [...notes.finished, part] }
}

/** Whole or not at all, also when we are killed. */
export function writeNotes(folder: string, notes: Notes): Notes {
  const path = join(folder, 'notes.json')
  writeFileSync(`${path}.new`, JSON.stringify(notes), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return notes
}

/** Undefined when they are missing, damaged, or somebody else could have written them. */
export function readNotes(folder: string): Notes | undefined {
  try {
    const file = openSync(join(folder, 'notes.json'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return isOurs(fstatSync(file)) ? parseNotes(readFileSync(file, 'utf8')) : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** What others can write could make us run or overwrite anything. */
function isOurs(found: Stats | undefined): boolean {
  if (found === undefined || !(found.isFile() || found.isDirectory())) return false
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & WRITTEN_BY_OTHERS) === 0)
}

/** The parts that are still to be run. */
export function remaining({ parts, finished, order }: Pick<Notes, 'parts' | 'finished' | 'order'>): readonly PlannedPart[] {
  return parts.filter(
    ({ name }) => !finished.some((part) => part.name === name) && (order.part === undefined || order.part === name),
  )
}
