import { type JudgeFacts, type Language, isSameLanguage } from '@parley/protocol'
import type { JobOutline } from '@parley/store'

/** What a job asks of a judge. */
export type JobNeeds = Pick<JobOutline, 'language' | 'model' | 'engine'>
/** What a judge told about itself. A judge that tells nothing is taken for one that can do everything. */
export type Told = Pick<JudgeFacts, 'languages' | 'engines'> | null | undefined

export function hasLanguage(told: Told, wanted: Language): boolean {
  return told?.languages.some(({ language }) => isSameLanguage(language, wanted)) ?? true
}

/** Whether it can write what the job wants written. Code that is judged as it is needs no engine. */
export function hasEngine(told: Told, { model, engine }: JobNeeds): boolean {
  if (model === null || told?.engines === undefined) return true
  return engine === null ? told.engines.length > 0 : told.engines.includes(engine)
}
