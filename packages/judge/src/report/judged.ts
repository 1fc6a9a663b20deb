import type { CaseResult, Verdict } from '@parley/protocol'

const UNJUDGED: ReadonlySet<Verdict> = new Set<Verdict>(['RUN', 'SKIP', 'CANCELLED'])

type Judged = Pick<CaseResult, 'verdict'>

/** Whether the verdict on a case says something about the program. */
export const isJudged = ({ verdict }: Judged): boolean => !UNJUDGED.has(verdict)

/** A case fails by every verdict but AC, RUN, SKIP and CANCELLED. */
export const isFailure = (result: Judged): boolean => result.verdict !== 'AC' && isJudged(result)
