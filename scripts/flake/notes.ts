import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Order } from './arguments.ts'
import type { PlannedPart } from './plan.ts'
import type { FinishedPart } from './report.ts'

/** How far a run has come. A part stands in it once all its runs are over. */
export interface Notes {
  readonly form: typeof FORM
  readonly order: Order
  readonly commit: string
  readonly parts: readonly PlannedPart[]
  readonly finished: readonly FinishedPart[]
}

/** Raised when notes of old can no longer be read. */
const FORM = 1

/** The folder of one clone: two of them do not go on with each other's runs. */
export function notesFolder(cache: string, root: string): string {
  return join(cache, createHash('sha256').update(root).digest('hex').slice(0, 16))
}

/** Forgets the run before. */
export function beginNotes(folder: string, begun: Omit<Notes, 'form' | 'finished'>): Notes {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return writeNotes(folder, { form: FORM, ...begun, finished: [] })
}

export function withFinished(notes: Notes, part: FinishedPart): Notes {
  return { ...notes, finished: [...notes.finished, part] }
}

/** Whole or not at all, also when we are killed. */
export function writeNotes(folder: string, notes: Notes): Notes {
  const path = join(folder, 'notes.json')
  writeFileSync(`${path}.new`, JSON.stringify(notes))
  renameSync(`${path}.new`, path)
  return notes
}

export function readNotes(folder: string): Notes | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, 'notes.json'), 'utf8'))
    return isNotes(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Only we write there: the form tells whether this version did. */
function isNotes(value: unknown): value is Notes {
  return typeof value === 'object' && value !== null && 'form' in value && value.form === FORM
}

/** The parts that are still to be run. */
export function remaining({ parts, finished, order }: Pick<Notes, 'parts' | 'finished' | 'order'>): readonly PlannedPart[] {
  return parts.filter(
    ({ name }) => !finished.some((part) => part.name === name) && (order.part === undefined || order.part === name),
  )
}
