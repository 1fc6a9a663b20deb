import type { CaseDiff, CompareMode, Verdict } from '@parley/protocol'
import type { RunOutcome } from '@parley/sandbox'

/** What was found out about one case. */
export interface Finding {
  readonly verdict: Verdict
  /** How much of the case's points it earns, 0 to 1. */
  readonly score: number
  readonly message: string | null
  readonly diff: CaseDiff | null
  /** Null when nothing ran. */
  readonly outcome: RunOutcome | null
  readonly reruns: number
}

/** A case that did not come to run. */
export function unrun(verdict: Verdict, message: string | null): Finding {
  return { verdict, score: 0, message, diff: null, outcome: null, reruns: 0 }
}

/** The words of a program that decides, where a comparison would show a difference. */
export function programDiff(mode: CompareMode, ok: boolean, message: string): CaseDiff {
  return { ok, mode, message, expected_preview_b64: '', actual_preview_b64: '' }
}
