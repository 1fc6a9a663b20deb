import type { JobId, Language, UserId, Waiting } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import { type Told, type JobNeeds, hasEngine, hasLanguage } from './who-fits.ts'

/** A judge that is here, as far as it matters to those who wait. */
export interface JudgeHere {
  readonly name: string
  readonly told: Told
  readonly drain: boolean
  /** How many jobs it holds, and how many it takes at once. */
  readonly jobs: number
  readonly slots: number
  /** How many more it takes, of owners who have none of its jobs. */
  readonly guests: number
  /** Whose jobs it holds, each once. */
  readonly owners: readonly (UserId | null)[]
}

/** Judges that a message names; there may be many more. */
const NAMED_MAX = 5

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  cpp: 'C++',
  cpp17: 'C++17',
  cpp20: 'C++20',
  cpp23: 'C++23',
  c: 'C',
  python: 'Python',
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  java: 'Java',
  rust: 'Rust',
  go: 'Go',
}

/** Why a job is with no judge; null when it does not wait, or a judge is free to take it in the next moment. */
export function waitingOf(
  job: Pick<JobRecord, 'id' | 'status' | 'ownerId'> & { readonly spec: JobNeeds },
  judges: readonly JudgeHere[],
  held: ReadonlySet<JobId>,
): Waiting | null {
  return job.status !== 'queued' || held.has(job.id) ? null : hindranceOf(job.spec, job.ownerId, judges)
}

/** What keeps every judge that is here from taking such a job of this owner now; the first thing that is in everybody's way. */
export function hindranceOf(wanted: JobNeeds, ownerId: UserId | null, judges: readonly JudgeHere[]): Waiting | null {
  if (judges.length === 0) return { code: 'no_judge', message: 'no judge is connected' }
  const language = LANGUAGE_NAMES[wanted.language]
  const fluent = judges.filter(({ told }) => hasLanguage(told, wanted.language))
  if (fluent.length === 0)
    return { code: 'no_language', message: `no judge that is here has ${language} (${named(judges, languagesOf)})` }
  const able = fluent.filter(({ told }) => hasEngine(told, wanted))
  if (able.length === 0) {
    const missing = wanted.engine === null ? 'an engine to write code with' : `the engine ${wanted.engine}`
    return { code: 'no_engine', message: `no judge that is here for ${language} has ${missing} (${named(fluent, enginesOf)})` }
  }
  const taking = able.filter(({ drain }) => !drain)
  if (taking.length === 0)
    return { code: 'draining', message: `every judge that could take it is draining (${named(able, () => '')})` }
  if (taking.every((judge) => isFullFor(judge, ownerId)))
    return { code: 'busy', message: `every judge that could take it is at work (${named(taking, loadOf)})` }
  return null
}

const languagesOf = ({ told }: JudgeHere): string => told?.languages.map(({ language }) => language).join(', ') || 'no language'
const enginesOf = ({ told }: JudgeHere): string => told?.engines?.join(', ') || 'no engine'

function isFullFor({ jobs, slots, guests, owners }: JudgeHere, ownerId: UserId | null): boolean {
  return jobs >= slots && (jobs >= slots + guests || owners.includes(ownerId))
}

function loadOf({ jobs, slots }: JudgeHere): string {
  const more = jobs - slots
  return `${Math.min(jobs, slots)} of ${slots}${more > 0 ? ` and ${more} ${more === 1 ? 'guest' : 'guests'}` : ''}`
}

/** The first of the judges by name, with what is to be said of each. */
function named(judges: readonly JudgeHere[], about: (judge: JudgeHere) => string): string {
  const shown = judges.slice(0, NAMED_MAX).map((judge) => [judge.name, about(judge)].filter((part) => part !== '').join(': '))
  const more = judges.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
