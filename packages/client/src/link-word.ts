import type { Moves } from '@parley/protocol'

/**
 * Where a steady client stands:
 * - `idle`: nobody has needed a connection yet.
 * - `connecting`: a try is under way.
 * - `live`: a connection is there.
 * - `lost`: there is none. Why is being found out, or nobody needs one.
 * - `waiting`: the next try comes after a pause.
 * - `ended`: it was closed, refused or given up; there is no way back.
 */
export type LinkPlace = 'idle' | 'connecting' | 'live' | 'lost' | 'waiting' | 'ended'

export const LINK_MOVES: Moves<LinkPlace> = {
  idle: ['connecting', 'ended'],
  connecting: ['live', 'lost'],
  live: ['lost'],
  lost: ['waiting', 'ended'],
  waiting: ['connecting', 'ended'],
  ended: [],
}

/** What there is to tell about a connection, as data: each place finds its own words. */
export type LinkWord =
  | { readonly kind: 'connecting'; readonly failures: number }
  | { readonly kind: 'live'; readonly isFirst: boolean }
  /** `wasLive`: a connection was lost; otherwise a try failed. */
  | { readonly kind: 'lost'; readonly why: Error; readonly wasLive: boolean }
  /** `failures`: tries in a row that failed; none right after a loss. `refusals`: those of them, up to now, at which the token was refused. */
  | {
      readonly kind: 'waiting'
      readonly why: Error
      readonly isRefused: boolean
      readonly refusals: number
      readonly failures: number
      readonly againMs: number
    }
  /** A tool has to be asked again, on a connection that is there. */
  | { readonly kind: 'asked-again'; readonly tool: string; readonly why: Error; readonly times: number }
  /** `why` is missing where we closed it ourselves. `wasLive`: there was a connection once; whoever opens the first is told by an error. */
  | { readonly kind: 'ended'; readonly why?: Error; readonly wasLive: boolean }

export interface LinkLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
}

/** A word as a line of a log that several may write into: `name` says who is speaking. Most words are worth no line. */
export function logLine(name: string, word: LinkWord): LinkLine | undefined {
  switch (word.kind) {
    case 'live':
      return word.isFirst
        ? { level: 'debug', message: `${name} is connected to the gateway` }
        : { level: 'info', message: `${name} is connected to the gateway again` }
    case 'lost':
      return word.wasLive ? { level: 'info', message: `${name} lost the gateway: ${word.why.message}` } : undefined
    case 'waiting':
      // Once for a gateway that is away, and once for a refusal, also where the gateway was away before: somebody has to mend that.
      return word.failures === 1 || word.refusals === 1
        ? { level: 'warn', message: `${name} does not reach the gateway: ${word.why.message}; trying on` }
        : undefined
    case 'asked-again':
      return { level: 'warn', message: `${name} has to ask ${word.tool} again: ${word.why.message}` }
    case 'ended':
      return word.why === undefined || !word.wasLive
        ? undefined
        : { level: 'error', message: `${name} gives the gateway up: ${word.why.message}` }
    case 'connecting':
      return undefined
  }
}
