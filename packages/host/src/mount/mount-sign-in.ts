import { type HeldMount, messageOf, type MountSignIn } from '@parley/protocol'
import { type ClientLink, type ClientTransport, type HttpTransportOptions, type Sink, WireError } from '@parley/rpc'
import { checkPublic, publicLookup } from './public-address.ts'

/** Tokens are renewed this long before they are over. */
const EARLY_MS = 60_000
/** A server whose tokens are good for moments alone is not asked for new ones without a pause; and the longest that a timer holds. */
const RENEW_MIN_MS = 10_000
const TIMER_MAX_MS = 2 ** 31 - 1

/** Which addresses may be asked. */
export interface SignInReach {
  readonly check?: (url: string) => void
  readonly lookup?: NonNullable<HttpTransportOptions['lookup']>
}

export interface SignInPorts {
  /** Asks where the tokens came from for new ones. An error with the code `refused` or `moved` means that somebody has to sign in again. */
  readonly renew: (signIn: MountSignIn, url: string, reach: SignInReach) => Promise<MountSignIn>
  readonly now: () => number
}

/** Who wants to reach the mount, and how its renewed tokens are kept. */
export interface SignedInAgent {
  readonly name: string
  readonly owner: string
  readonly privateHttp: boolean
  readonly keep: (mount: HeldMount, signIn: MountSignIn) => Promise<unknown>
}

/**
 * What a sign-in gave for one mount, for as long as its agent is held: its tokens of this moment. They are renewed before they are over, and
 * when its server refuses them; what renews them may be good for one use, so it is used once for all who ask.
 */
export class HeldSignIn {
  readonly #mount: HeldMount
  readonly #url: string
  readonly #ports: SignInPorts
  #tokens: MountSignIn
  #isRefused = false
  #renewing: Promise<void> | undefined

  constructor(mount: HeldMount, url: string, tokens: MountSignIn, ports: SignInPorts) {
    this.#mount = mount
    this.#url = url
    this.#tokens = tokens
    this.#ports = ports
  }

  get token(): string {
    return this.#tokens.access_token
  }
  /** What must be in no log and no message. */
  get secrets(): readonly string[] {
    const { access_token: access, refresh_token: refresh, client_secret: client } = this.#tokens
    return [access, refresh, client].filter((value) => value !== null)
  }

  /** Its server does not take them. */
  refused(): void {
    this.#isRefused = true
  }

  /** When they are to be renewed, from now; `undefined`: nobody knows. */
  dueMs(): number | undefined {
    const { expires_at: end, refresh_token: refresh } = this.#tokens
    return end === null || refresh === null ? undefined : end - EARLY_MS - this.#ports.now()
  }

  /** Renews them if it is time. Throws what to do where that is not possible. */
  async fresh(agent: SignedInAgent): Promise<void> {
    if (!this.#isRefused && (this.dueMs() ?? 1) > 0 && !this.#isOver()) return
    this.#renewing ??= this.#renew(agent).finally(() => {
      this.#renewing = undefined
    })
    await this.#renewing
  }

  #isOver(): boolean {
    const { expires_at: end } = this.#tokens
    return end !== null && end <= this.#ports.now()
  }

  async #renew(agent: SignedInAgent): Promise<void> {
    const again = `sign in again: ${loginCommand(agent, this.#mount)}`
    if (this.#tokens.refresh_token === null) throw new Error(`its sign-in is over; ${again}`)
    try {
      const reach = agent.privateHttp ? {} : { check: checkPublic, lookup: publicLookup() }
      this.#tokens = await this.#ports.renew(this.#tokens, this.#url, reach)
    } catch (error) {
      const isOver = error instanceof Error && 'code' in error && (error.code === 'refused' || error.code === 'moved')
      throw new Error(isOver ? `its sign-in is over (${messageOf(error)}); ${again}` : messageOf(error), { cause: error })
    }
    this.#isRefused = false
    // Before they are used: the old ones may be worth nothing from now on, and whoever holds the agent next needs these.
    await agent.keep(this.#mount, this.#tokens)
  }
}

/** The same way, whose tokens are renewed while it is open. It ends when its server refuses them, to be opened again with new ones. */
export function signedInTransport(transport: ClientTransport, signIn: HeldSignIn, agent: SignedInAgent): ClientTransport {
  return {
    kind: transport.kind,
    open: async (sink, limits, warn) => {
      const held: { timer?: NodeJS.Timeout; link?: ClientLink } = {}
      const watched: Sink = {
        receive: (text, during) => sink.receive(text, during),
        sessionLost: () => sink.sessionLost(),
        fail: (id, error) => {
          sink.fail(id, error)
          if (!(error instanceof WireError) || error.code !== 'unauthorized') return
          signIn.refused()
          void held.link?.close()
          sink.ended({ code: undefined, reason: error.message })
        },
        ended: (end) => {
          clearTimeout(held.timer)
          sink.ended(end)
        },
      }
      const renewLater = (): void => {
        const dueMs = signIn.dueMs()
        if (dueMs === undefined) return
        held.timer = setTimeout(
          () => {
            signIn.fresh(agent).then(renewLater, (error: unknown) => warn(messageOf(error)))
          },
          Math.min(Math.max(dueMs, RENEW_MIN_MS), TIMER_MAX_MS),
        )
        held.timer.unref()
      }
      const opened = await transport.open(watched, limits, warn)
      held.link = opened
      renewLater()
      const close = opened.close.bind(opened)
      return Object.assign(opened, {
        close: () => {
          clearTimeout(held.timer)
          return close()
        },
      })
    },
  }
}

/** The same way, whose refusal says what somebody can do about it. */
export function unsignedTransport(transport: ClientTransport, agent: SignedInAgent, mount: HeldMount): ClientTransport {
  const hint = `; where it wants a sign-in: ${loginCommand(agent, mount)}`
  const hinted = (error: Error): Error =>
    error instanceof WireError && error.code === 'unauthorized'
      ? Object.defineProperty(error, 'message', { value: `${error.message}${hint}`, configurable: true })
      : error
  return {
    kind: transport.kind,
    open: (sink, limits, warn) =>
      transport.open(
        {
          receive: (text, during) => sink.receive(text, during),
          sessionLost: () => sink.sessionLost(),
          fail: (id, error) => sink.fail(id, hinted(error)),
          ended: (end) => sink.ended(end),
        },
        limits,
        warn,
      ),
  }
}

const loginCommand = ({ name }: SignedInAgent, mount: HeldMount): string => `parley mount login ${name} ${mount.name}`
