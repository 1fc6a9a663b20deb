import type { Begins } from '@parley/client'
import type { CaseItem, JobState } from '@parley/protocol'
import { AgentText, agentLine, isPiece } from './agent-text.ts'
import { caseRow } from './case-table.ts'
import { endingText } from './ending.ts'
import { NO_SCREEN, plainText } from '@parley/screen'
import { isEndStatus, statusText } from './status-text.ts'
import type { JobView } from './view.ts'
import { waitingText } from './waiting-text.ts'

/** Plain lines, for logs and pipes: each thing once, when it happens, and nothing cut. */
export function plainView(out: (text: string) => void, say: (text: string) => void): JobView {
  let known: JobState | undefined
  // What a test says at its end is said better by the result, unless something follows: then it was not the end.
  let held: string | undefined
  // Steps and cases come by two logs; a case may be heard of before the step that begins them.
  let begun = 0
  let early: { readonly item: CaseItem; readonly begins: Begins }[] = []
  const agent = new AgentText()
  let cases: { readonly of: string; count: number } = { of: '', count: 0 }

  const line = (text: string): void => {
    if (held !== undefined) out(`${held}\n`)
    held = undefined
    out(`${text}\n`)
  }
  const showCase = ({ item, begins }: (typeof early)[number]): void => {
    if (begins === 'claim') out('another judge begins the cases again\n')
    if (begins !== 'nothing') cases = { of: roundOf(item), count: 0 }
    cases.count += 1
    if (known === undefined || item.verdict === 'CANCELLED') return
    // Cases end in any order: the figure counts those that are done, the name says which one it is.
    const done = String(cases.count).padStart(String(item.total).length)
    out(`${done}/${item.total}${caseRow(item, known.limits, NO_SCREEN)}\n`)
  }
  const showEarly = (): void => {
    const ready = early.filter(({ item }) => item.attempt <= begun)
    early = early.filter(({ item }) => item.attempt > begun)
    ready.forEach(showCase)
  }
  return {
    state: (state) => {
      if (known === undefined) line(`${state.job_id} ${state.status}${state.title === '' ? '' : `: ${plainText(state.title)}`}`)
      if (state.waiting !== null && state.waiting.message !== known?.waiting?.message) line(waitingText(state.waiting))
      known = state
    },
    status: (item) => {
      if (isPiece(item)) return agent.push(item).map(agentLine).forEach(line)
      agent.flush().map(agentLine).forEach(line)
      const { done } = item.meta
      if (isEndStatus(item)) held = statusText(item)
      // Each case has a line of its own.
      else if (typeof done !== 'number' || done === 0) line(statusText(item))
      if (typeof done === 'number') begun = Math.max(begun, item.attempt)
      showEarly()
    },
    caseDone: (item, begins) => {
      early.push({ item, begins })
      showEarly()
    },
    end: (ending) => {
      agent.flush().map(agentLine).forEach(line)
      begun = Number.POSITIVE_INFINITY
      showEarly()
      const { report } = ending
      const hasModel = typeof ending.state.model === 'string'
      // Of several rounds the last one is shown as a whole: it is the one that counts.
      const wereShown = !hasModel && report !== null && roundOf(report) === cases.of && cases.count >= report.tests.length
      out(`\n${endingText({ ...ending, areCasesTold: wereShown }, NO_SCREEN)}`)
    },
    say,
    close: () => {},
  }
}

const roundOf = ({ claim, attempt }: { readonly claim: number; readonly attempt: number }): string => `${claim}.${attempt}`
