import type { Verdict } from '@parley/protocol'

/** What a verdict means, in words. */
export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  AC: 'accepted',
  WA: 'wrong answer',
  PE: 'presentation error',
  RE: 'runtime error',
  TLE: 'time limit',
  ILE: 'idle too long',
  MLE: 'memory limit',
  OLE: 'output limit',
  CE: 'does not compile',
  SE: 'the judge failed',
  RUN: 'ran, not judged',
  SKIP: 'not run',
  CANCELLED: 'not run',
}

export type Tone = 'good' | 'bad' | 'unjudged' | 'neutral'

/** How a verdict is coloured. */
export function toneOf(verdict: Verdict): Tone {
  if (verdict === 'AC') return 'good'
  if (verdict === 'RUN') return 'unjudged'
  return verdict === 'SKIP' || verdict === 'CANCELLED' ? 'neutral' : 'bad'
}
