import { isEnd } from '@parley/protocol'
import type { JobView } from './view.ts'

/** One JSON object per line; the last one is the result. */
export function jsonView(out: (text: string) => void, say: (text: string) => void): JobView {
  const line = (value: object): void => out(`${JSON.stringify(value)}\n`)
  let last = ''
  return {
    state: ({ job_id, status, attempt, claims, waiting }) => {
      const shown = { event: 'state', job_id, status, attempt, claims, waiting }
      // More of a state changes than is shown of it. The end is told once more when everything before it was.
      if (JSON.stringify(shown) !== last || isEnd(status)) line(shown)
      last = JSON.stringify(shown)
    },
    status: (item) => line({ event: 'agent_status', item }),
    caseDone: (item) => line({ event: 'case_result', item }),
    end: ({ state, report, usage }) => {
      if (usage !== null) line({ event: 'usage', usage })
      line({ job_id: state.job_id, status: state.status, report })
    },
    say,
    close: () => {},
  }
}
