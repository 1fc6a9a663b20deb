import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Invocation, OptionSpec } from './command-line/command.ts'
import { usageError } from './command-line/command-error.ts'

/** A gateway somewhere, and who we are there. */
export interface Target {
  /** Its MCP endpoint. */
  readonly url: string
  readonly token: string | undefined
}

/** For every command that can go to a gateway by its URL. */
export const TARGET_OPTIONS = {
  url: { doc: 'the gateway to talk to, as http://host:port (PARLEY_URL)', value: 'URL' },
  token: { doc: 'the token; it shows in ps, so rather use PARLEY_TOKEN or --token-file', value: 'TOKEN' },
  'token-file': { doc: 'a file with the token in it; - is stdin', value: 'FILE', isFile: true },
} as const satisfies Record<string, OptionSpec>

const TOKEN_FILE_BYTES = 64 * 1024

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
  if (file !== undefined) return readTokenFile(io.cwd, file)
  return values.text('token') ?? nonEmpty(io.env['PARLEY_TOKEN'])
}

/** Reads a token from a file: its first line, without spaces around it. */
export function readTokenFile(cwd: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : resolve(cwd, file), 'utf8').slice(0, TOKEN_FILE_BYTES)
  } catch (cause) {
    throw usageError(`--token-file ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  const token = text.split('\n')[0]?.trim() ?? ''
  if (token === '') throw usageError(`--token-file ${file} is empty`)
  return token
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
