import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Host names that always mean this machine. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '[::1]', '::1'])
/** So do all of these addresses: whoever listens on one of them is called by it. */
const LOOPBACK_ADDRESS = /^127(\.\d{1,3}){3}$/

/** Decides by `Host` and `Origin` whether a browser was tricked into calling us (DNS rebinding, foreign pages). */
export class HostCheck {
  readonly #allowed: ReadonlySet<string>
  readonly #known = new Map<string, boolean>()

  constructor(allowedHosts: readonly string[]) {
    this.#allowed = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())])
  }

  /** `undefined` when the request may pass, else what is wrong. */
  refusal(request: IncomingMessage): string | undefined {
    const { host, origin } = request.headers
    if (host === undefined || !this.#admits(host)) return 'the Host header names a host that is not served here'
    if (origin !== undefined && origin !== 'null' && !this.#admits(origin))
      return 'the Origin header names a page that may not call here'
    return origin === 'null' ? 'the Origin header names a page that may not call here' : undefined
  }

  /** The same few values come again and again; a table of bounded size spares parsing them. */
  #admits(value: string): boolean {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const name = hostName(value)
    const isAdmitted = this.#allowed.has(name) || LOOPBACK_ADDRESS.test(name)
    if (this.#known.size < MAX_KNOWN_HOSTS) this.#known.set(value, isAdmitted)
    return isAdmitted
  }
}
const MAX_KNOWN_HOSTS = 64

function hostName(value: string): string {
  const url = value.includes('://') ? value : `http://${value}`
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : ''
}

/**
 * The client's own address, through proxies that we trust. From the right: the first hop that is not one of our own proxies is
 * the client, and what stands left of it is its own claim. So is what stands left of a hop that cannot be read: there the
 * last proxy that we know is the answer.
 */
export function remoteAddressOf(request: IncomingMessage, trustedProxies: ReadonlySet<string>): string {
  let known = plainAddress(request.socket.remoteAddress ?? 'local')
  if (!trustedProxies.has(known)) return known
  const forwarded = request.headers['x-forwarded-for']
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',')
  for (const hop of hops.toReversed()) {
    const address = addressOf(hop.trim())
    if (address === undefined) return known
    if (!trustedProxies.has(address)) return address
    known = address
  }
  return known
}

/** The address of one hop. Some proxies write the port too, and then an IPv6 address stands in brackets. */
function addressOf(hop: string): string | undefined {
  const [, bracketed, beforePort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? plainAddress(bracketed) : undefined
  const bare = beforePort ?? hop
  return isIP(bare) === 0 ? undefined : plainAddress(bare)
}

/** An IPv4 address that is written as IPv6 is the same address. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  return mapped ?? address.toLowerCase()
}

export function isJsonBody(request: IncomingMessage): boolean {
  const type = request.headers['content-type']
  return type !== undefined && (type === 'application/json' || type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json')
}

/** A POST may be answered either way, so the client must take both. */
export function acceptsBoth(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return (accept.includes('application/json') && accept.includes('text/event-stream')) || accept.includes('*/*')
}
export function acceptsEvents(accept: string | undefined): boolean {
  return accept !== undefined && (accept.includes('text/event-stream') || accept.includes('*/*'))
}

/** The last value of a header that may come once; `undefined` when it is missing. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.at(-1)?.trim() : value?.trim()
}

/** Path and query of a request's target. Whoever takes us for a proxy sends the whole address; what follows the host counts. */
export function splitTarget(target: string): readonly [path: string, query: string] {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const mark = local.indexOf('?')
  return mark === -1 ? [local, ''] : [local.slice(0, mark), local.slice(mark + 1)]
}
