import { type JudgeFacts, type Language, isSameLanguage } from '@parley/protocol'
import { CommandError } from '@parley/command-line'
import { hintFor } from '../doctor/language-checks.ts'

/** A judge runs, but perhaps not what a problem is to be solved in: says so, and how to get it. */
export function requireLanguage(language: Language, there: JudgeFacts['languages']): void {
  if (there.some((one) => isSameLanguage(one.language, language))) return
  const hint = hintFor(language) ?? 'parley doctor says more'
  throw new CommandError('language_missing', `this machine has nothing to judge ${language} with`, { hint })
}
