import { asError, type HeldMount } from '@parley/protocol'
import type { ClientTransport, Sink } from '@parley/rpc'

/** A shorter text stands in every other word: to mask it would tell where it is. */
const SECRET_CHARS = 4
const MASKED = '••••'

export type MaskText = (text: string) => string

/**
 * Takes the values of a mount's variables and headers out of what is said of it, what may be a secret in its URL, and what else is one at the
 * moment.
 */
export const maskOf = (mount: Pick<HeldMount, 'server'>, changing: () => readonly string[] = () => []): MaskText =>
  maskTexts(secretsOf(mount), { changing })

/** All that may be a secret of a mount. */
export function secretsOf({ server }: Pick<HeldMount, 'server'>): readonly string[] {
  const named = (server.kind === 'stdio' ? server.env : server.headers).map(({ value }) => value)
  // A header is often a word and a secret.
  return [...named.flatMap((value) => [value, ...value.split(' ')]), ...(server.kind === 'http' ? inUrl(server.url) : [])]
}

/** Takes these texts out of others; shorter ones stand. */
export function maskTexts(
  texts: readonly string[],
  {
    shortest = SECRET_CHARS,
    changing = () => [],
  }: { readonly shortest?: number; readonly changing?: () => readonly string[] } = {},
): MaskText {
  const values = texts.filter((value) => value.length >= shortest)
  return (text) => {
    const longestFirst = [...new Set([...values, ...changing()])].toSorted((one, other) => other.length - one.length)
    return longestFirst.reduce((masked, value) => masked.replaceAll(value, MASKED), text)
  }
}

function inUrl(text: string): readonly string[] {
  const { username, password, search, searchParams, hash } = new URL(text)
  const written = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  const parts = [username, password, hash.slice(1)]
  return [...parts, ...parts.map(decoded), ...written, ...written.map(decoded), ...searchParams.values()]
}

/** A lone `%` stands in a URL as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The same way, whose failures say nothing that is a secret: a server may repeat a header in its refusal. `hint` is added where its end is told. */
export function maskedTransport(transport: ClientTransport, mask: MaskText, hint = ''): ClientTransport {
  return {
    kind: transport.kind,
    said: () => `${mask(transport.said?.() ?? '')}${hint}`,
    open: async (sink, limits, warn) => {
      const masked: Sink = {
        receive: (text, during) => sink.receive(text, during),
        sessionLost: () => sink.sessionLost(),
        fail: (id, error) => sink.fail(id, maskedError(error, mask)),
        ended: ({ code, reason }) => sink.ended({ code, reason: `${mask(reason)}${hint}` }),
      }
      try {
        return await transport.open(masked, limits, (message) => warn(mask(message)))
      } catch (error) {
        throw maskedError(error, mask)
      }
    },
  }
}

/** The error itself, because others look at what it is. */
export function maskedError(thrown: unknown, mask: MaskText): Error {
  const error = asError(thrown)
  const masked = mask(error.message)
  return masked === error.message ? error : Object.defineProperty(error, 'message', { value: masked, configurable: true })
}
