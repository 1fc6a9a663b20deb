import { type GatewayAddress, messageOf, ToolError, type ToolInput, type ToolName, type ToolOutput } from '@parley/protocol'
import { afterFailure } from '../after-failure.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { Connect } from '../steady-options.ts'
import { ControlLink, type Heartbeat, type HeartbeatAnswer, type WorkerPort } from './control-link.ts'

/** Between tries to find a gateway that answers; doubled each time. */
const RETRY_MS = 50
const RETRY_MAX_MS = 2_000

/** How a gateway is reached, by its URL. */
export type ControlConnect = (url: string) => Connect

export interface JoinOptions {
  /** The gateway that is dialled first: `http://host:port` or `https://…`. It tells of the others. */
  readonly url: string
  readonly connect: ControlConnect
  readonly worker: WorkerPort
  /** What is said of the worker each time; its `instance` is the same until it ends. */
  readonly heartbeat: () => Heartbeat
  readonly log: (message: string) => void
  /** Gives up the wait for the first gateway, which may be away for as long as it likes. */
  readonly signal?: AbortSignal
}

export interface Joined {
  /** What it is called there. */
  readonly name: string
  /**
   * Calls a tool on whichever gateway is there, and again on another one after a failure that is worth it, until it is answered. Throws
   * what the tool itself says. Only for calls that may be sent twice.
   */
  call<Name extends ToolName>(name: Name, input: ToolInput<Name>, signal: AbortSignal): Promise<ToolOutput<Name>>
  close(): Promise<void>
}

/** Takes part as a worker: holds a connection to every gateway, and hears when somebody wants to reach it. Throws why it may not. */
export async function joinGateways(options: JoinOptions): Promise<Joined> {
  const { url: first, worker, log } = options
  const links = new Map<string, ControlLink>()
  /** Which gateway answered at a URL last: several may stand behind one. */
  const answered = new Map<string, string>()
  const refused = new Set<string>()
  const drainWords = { count: 0 }
  let isClosed = false

  const open = (url: string): ControlLink => {
    const link = new ControlLink({
      url,
      connect: options.connect(url),
      worker,
      drainWords,
      heartbeat: options.heartbeat,
      told: (told) => heard(url, told),
      lost: () => {
        for (const [other, each] of links) if (other !== url) each.hurry()
      },
      log,
    })
    links.set(url, link)
    return link
  }
  const drop = (url: string): void => {
    void links.get(url)?.close()
    links.delete(url)
    answered.delete(url)
  }
  const heard = (url: string, { gateway, gateways }: HeartbeatAnswer): void => {
    if (isClosed) return
    answered.set(url, gateway)
    for (const known of links.keys()) if (known !== first && !gateways.some((each) => each.url === known)) drop(known)
    for (const each of gateways) meet(each)
  }
  const meet = ({ id, url }: GatewayAddress): void => {
    if (links.has(url) || refused.has(url) || [...answered.values()].includes(id)) return
    if (!isAsSafe(url, first)) {
      refused.add(url)
      return log(`${url} is not dialled: the token would go there unencrypted`)
    }
    open(url)
      .begin()
      .then((told) => heard(url, told))
      .catch((error: unknown) => {
        if (isClosed) return
        log(`${url}: ${messageOf(error)}`)
        drop(url)
      })
  }
  const call = async <Name extends ToolName>(
    name: Name,
    input: ToolInput<Name>,
    signal: AbortSignal,
  ): Promise<ToolOutput<Name>> => {
    for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      for (const link of links.values()) {
        signal.throwIfAborted()
        if (!link.isGreeted) continue
        try {
          return await link.once(name, input, signal)
        } catch (error) {
          if (signal.aborted || !isPassing(error)) throw error
        }
      }
      await SYSTEM_CLOCK.sleep(waitMs, signal)
    }
  }
  const close = async (): Promise<void> => {
    isClosed = true
    await Promise.all([...links.values()].map((link) => link.close()))
  }
  const giveUp = (): void => void close()
  options.signal?.addEventListener('abort', giveUp, { once: true })
  try {
    const told = await open(first).begin()
    heard(first, told)
    return { name: told.name, call, close }
  } catch (error) {
    await close()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', giveUp)
  }
}

/** Whether another try may bring what this one did not: the gateway went, or has not heard on this connection who we are. */
function isPassing(error: unknown): boolean {
  const after = afterFailure(error)
  return (
    after === 'reconnect' || after === 'wait' || after === 'few' || (error instanceof ToolError && error.code === 'no_session')
  )
}

/** A token that went out encrypted goes nowhere else unencrypted, but to this machine itself. */
function isAsSafe(url: string, first: string): boolean {
  if (!first.startsWith('https:') || url.startsWith('https:')) return true
  const host = URL.parse(url)?.hostname ?? ''
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
