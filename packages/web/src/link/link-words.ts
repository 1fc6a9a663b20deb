import type { LinkState } from './page-link.ts'

/** The state of the connection, and what happens next, in a few words. It is the only word on the page about the gateway. */
export function linkWords(state: LinkState): string {
  if (state.kind !== 'lost') return state.kind === 'live' ? 'live' : 'connecting…'
  if (state.next === undefined) return 'connection lost'
  const { isAnswering, againMs } = state.next
  const what = isAnswering ? 'connection lost' : 'the gateway does not answer'
  return `${what}; trying again ${againMs < 1_000 ? 'now' : `in ${Math.round(againMs / 1_000)} s`}`
}
