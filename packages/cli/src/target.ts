import type { Invocation, OptionSpec } from './command-line/command.ts'
import { usageError } from './command-line/command-error.ts'
import { readGivenLine } from './command-line/given-file.ts'

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
): Target | undefined {
  const given = values.text('url') ?? nonEmpty(io.env['PARLEY_URL'])
  const token = tokenOf({ values, io })
  if (given === undefined) {
    if (values.has('token') || values.has('token-file'))
      throw usageError('a token without --url goes nowhere', 'give --url or PARLEY_URL')
    return undefined
  }
  return { url: endpointOf(given, schemes), token }
}

/** The token by flag, file or environment, in this order. */
function tokenOf({ values, io }: Pick<Invocation, 'values' | 'io'>): string | undefined {
  const file = values.text('token-file')
  if (file !== undefined && values.has('token')) throw usageError('--token and --token-file exclude each other')
  if (file !== undefined) return readGivenLine({ what: '--token-file', file, cwd: io.cwd })
  return values.text('token') ?? nonEmpty(io.env['PARLEY_TOKEN'])
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
