import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { readGivenLine, warnIfOpen } from '@parley/command-line/commands'

/** A gateway somewhere, and who we are there. */
export interface Target {
  /** Its MCP endpoint. */
  readonly url: string
  readonly token: string | undefined
}

/** Whoever goes to a gateway by its URL has to show who they are. */
export function withToken({ url, token }: Target, needed: 'user' | 'admin'): { readonly url: string; readonly token: string } {
  if (token !== undefined) return { url, token }
  const whose = needed === 'admin' ? 'an admin' : 'a user'
  throw usageError(
    `a token is needed for ${new URL(url).origin}: give it by --token-file FILE, in PARLEY_TOKEN, or by --token TOKEN`,
    `parley token create --role user --user NAME makes one for ${whose}, on the machine of the gateway`,
  )
}

/** For every command that can go to a gateway by its URL. */
export const TARGET_OPTIONS = {
  url: { doc: 'the gateway to talk to, as http://host:port (PARLEY_URL)', value: 'URL' },
  token: { doc: 'the token; it shows in ps, so rather use PARLEY_TOKEN or --token-file', value: 'TOKEN' },
  'token-file': { doc: 'a file with the token in it; - is stdin', value: 'FILE', isFile: true },
} as const satisfies Record<string, OptionSpec>

/** The gateway that flags or environment name, or `undefined` when they name none. */
export function targetOf(
  { values, io }: Pick<Invocation, 'values' | 'io'>,
  schemes: 'http' | 'any' = 'http',
  variables: readonly string[] = ['PARLEY_TOKEN'],
): Target | undefined {
  const given = values.text('url') ?? nonEmpty(io.env['PARLEY_URL'])
  if (given === undefined) {
    if (values.has('token') || values.has('token-file'))
      throw usageError('a token without --url goes nowhere', 'give --url or PARLEY_URL')
    return undefined
  }
  return { url: endpointOf(given, schemes), token: tokenOf({ values, io }, variables) }
}

/** The token by flag, file or environment, in this order. */
function tokenOf({ values, io }: Pick<Invocation, 'values' | 'io'>, variables: readonly string[]): string | undefined {
  const file = values.text('token-file')
  if (file !== undefined && values.has('token')) throw usageError('--token and --token-file exclude each other')
  if (file !== undefined) {
    const given = { what: '--token-file', file, cwd: io.cwd }
    const token = wellFormed(`--token-file ${file}`, readGivenLine(given))
    warnIfOpen(given, io, 'token')
    return token
  }
  const given = values.text('token')
  if (given !== undefined) return wellFormed('--token', given)
  for (const name of variables) {
    const inherited = nonEmpty(io.env[name])
    if (inherited !== undefined) return wellFormed(name, inherited)
  }
  return undefined
}

/** What no header can carry would fail as if the gateway could not be reached. */
function wellFormed(where: string, token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageError(
    `${where}: the token has characters that no token has, such as spaces or line breaks`,
    'a token is one word, as parley token create prints it',
  )
}

/** People give the address of the page; programs need the endpoint below it. */
function endpointOf(given: string, schemes: 'http' | 'any'): string {
  const url = URL.parse(given)
  const isKnown = url !== null && (schemes === 'http' ? /^https?:$/ : /^(http|ws)s?:$/).test(url.protocol)
  if (!isKnown) {
    const wanted = schemes === 'http' ? 'an http:// or https:// URL' : 'an http://, https://, ws:// or wss:// URL'
    throw usageError(`--url must be ${wanted}, not ${JSON.stringify(given)}`)
  }
  if (url.pathname === '/') url.pathname = url.protocol.startsWith('ws') ? '/api/mcp/ws' : '/mcp'
  return url.href
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}
