import { type LinkWord, PATIENCE, SYSTEM_CLOCK, SteadyClient } from '@parley/client'
import { WireError, browserWebSocketTransport, connectClient } from '@parley/rpc/browser'
import { whoAmI } from '../api.ts'

/** `lost`: what it does next is said as soon as it is known whether the gateway answers at all. */
export type LinkState =
  | { readonly kind: 'connecting' | 'live' }
  | { readonly kind: 'lost'; readonly next?: { readonly isAnswering: boolean; readonly againMs: number } }

export interface PageLinkOptions {
  readonly token: string
  readonly onState: (state: LinkState) => void
  /** The gateway no longer takes the token; the link is over. */
  readonly onSignedOut: (message: string) => void
}

export interface PageLink {
  readonly client: SteadyClient
  /**
   * The token is about to end, because the person asked for it: a connection that is lost from now on says nothing about the gateway,
   * and nobody is asked about it before the answer is called.
   */
  hold(): () => void
}

/** A socket of a machine that slept looks open; only a question that nobody answers tells, and a browser does not ask it. */
const PING = { everyMs: 30_000, limitMs: 10_000 }

/** The one WebSocket of the page, opened again whenever it is lost, until it is closed or the token is refused. */
export function openPageLink({ token, onState, onSignedOut }: PageLinkOptions): PageLink {
  const url = `${location.origin.replace(/^http/, 'ws')}/api/mcp/ws`
  let held: Promise<void> | undefined
  const tell = (word: LinkWord): void => {
    if (word.kind === 'live') onState({ kind: 'live' })
    else if (word.kind === 'waiting')
      onState({ kind: 'lost', next: { isAnswering: !isUnreachable(word.why), againMs: word.againMs } })
    else if (word.kind === 'ended' && word.why !== undefined) onSignedOut(word.why.message)
  }
  const client = new SteadyClient({
    // The legacy era: there the gateway sends what happens in a job as notifications.
    connect: (heard, signal) =>
      connectClient(browserWebSocketTransport({ url, token }), {
        clientInfo: { name: 'parley-page', version: '1' },
        era: 'legacy',
        signal,
        onNotification: heard,
      }),
    patience: PATIENCE.page,
    clock: SYSTEM_CLOCK,
    random: Math.random,
    ping: PING,
    explain: async (why, signal) => {
      await held
      if (signal.aborted) return why
      onState({ kind: 'lost' })
      return whatIsBehind(token)
    },
    tell,
  })
  onState({ kind: 'connecting' })
  // Who is refused hears of it by `onSignedOut`.
  client.ready().catch(() => {})
  return {
    client,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
  }
}

/** A browser does not say why a socket was refused; the gateway does. */
async function whatIsBehind(token: string): Promise<Error> {
  const me = await whoAmI(token)
  if (me.kind === 'ok') return new WireError('closed', 'the connection was lost')
  if (me.isSignedOut) return new WireError('unauthorized', me.message)
  return new WireError(me.code === 'unreachable' ? 'unreachable' : 'closed', me.message)
}

const isUnreachable = (why: Error): boolean => why instanceof WireError && why.code === 'unreachable'
