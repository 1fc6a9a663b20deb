import { WireError } from '@parley/fetch/browser'
import { type JsonObject, RPC_CODES, RpcError, isJsonObject, keptText } from '@parley/protocol'
import {
  type Era,
  LATEST_LEGACY,
  LATEST_MODERN,
  META,
  MODERN_REVISIONS,
  type ModernRevision,
  type Revision,
  isLegacyRevision,
  looksModern,
} from '../revision.ts'
import type { Implementation } from '../service.ts'
import type { Connection } from './connection.ts'
import { statusOf } from './link/http-failure.ts'

/** Who we say we are. */
export interface ClientFace {
  readonly info: Implementation
  readonly capabilities: JsonObject
}

/** What both sides speak from here on, and what the server told about itself. */
export interface Agreement {
  readonly era: Era
  readonly revision: Revision
  readonly info: Implementation
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

export type EraChoice = 'auto' | Era

/** Finds out which era the server speaks and shakes hands in it. */
export async function negotiate(
  connection: Connection,
  face: ClientFace,
  choice: EraChoice,
  signal: AbortSignal | undefined,
): Promise<Agreement> {
  if (choice === 'legacy') return shakeHands(connection, face, signal)
  const probe = await discover(connection, face, choice, signal)
  if (probe !== undefined) return probe
  try {
    return await shakeHands(connection, face, signal)
  } catch (error) {
    // A modern server that starts slowly lets the probe time out and then refuses the handshake by naming its versions.
    if (offeredRevision(error) === undefined) throw error
    const second = await discover(connection, face, 'modern', signal)
    if (second === undefined) throw error
    return second
  }
}

/** The legacy handshake. The caller sends `notifications/initialized` when it is ready to be spoken to. */
export async function shakeHands(connection: Connection, face: ClientFace, signal?: AbortSignal): Promise<Agreement> {
  const params: JsonObject = { protocolVersion: LATEST_LEGACY, capabilities: face.capabilities, clientInfo: face.info }
  const { result } = await connection.call('initialize', params, { signal })
  const revision = result.protocolVersion
  if (!isLegacyRevision(revision)) {
    throw new WireError(
      'unsupported_version',
      `the server wants to speak ${keptText(JSON.stringify(revision), WORD_CHARS)}, which this client does not`,
    )
  }
  connection.link.agreed?.('legacy', revision)
  return { era: 'legacy', revision, info: readInfo(result.serverInfo), ...readAbout(result) }
}

/** Asks in the modern way. `undefined` says that the server is a legacy one. */
async function discover(
  connection: Connection,
  face: ClientFace,
  choice: EraChoice,
  signal: AbortSignal | undefined,
): Promise<Agreement | undefined> {
  let revision: ModernRevision = LATEST_MODERN
  for (let round = 0; ; round++) {
    try {
      const { result } = await ask(connection, face, revision, choice, signal)
      if (!Array.isArray(result.supportedVersions)) return notModern(choice, 'its answer to server/discover names no versions')
      const chosen = pickRevision(result.supportedVersions)
      if (chosen === undefined) return notModern(choice, 'it names legacy versions only')
      connection.link.agreed?.('modern', chosen)
      const meta = isJsonObject(result._meta) ? result._meta : {}
      return { era: 'modern', revision: chosen, info: readInfo(meta[META.serverInfo]), ...readAbout(result) }
    } catch (error) {
      const offered = offeredRevision(error)
      // One corrective round only: a server that refuses what it has just offered would have us go in circles.
      if (offered !== undefined && round === 0) revision = offered
      else if (offered !== undefined || choice === 'modern' || !meansLegacy(connection, error)) throw error
      else return undefined
    }
  }
}

function ask(
  connection: Connection,
  face: ClientFace,
  revision: ModernRevision,
  choice: EraChoice,
  signal: AbortSignal | undefined,
) {
  const timeoutMs = connection.link.kind !== 'http' && choice === 'auto' ? connection.limits.probeTimeoutMs : undefined
  const headers = { 'mcp-protocol-version': revision, 'mcp-method': 'server/discover' }
  return connection.call('server/discover', { _meta: envelope(face, revision) }, { signal, timeoutMs, headers })
}

/** The keys that every modern request carries. */
export function envelope(face: ClientFace, revision: Revision): JsonObject {
  return { [META.protocolVersion]: revision, [META.clientCapabilities]: face.capabilities, [META.clientInfo]: face.info }
}

const MODERN_CODES: readonly number[] = [RPC_CODES.header_mismatch, RPC_CODES.missing_client_capability]

/**
 * Whether a failed probe speaks for a legacy server. On a pipe or socket everything short of its end does, silence
 * included. Over HTTP an outage or a locked door says nothing about the era, and must not be covered up.
 */
function meansLegacy(connection: Connection, error: unknown): boolean {
  if (connection.link.kind !== 'http')
    return error instanceof RpcError || (error instanceof WireError && error.code === 'timeout')
  const status = statusOf(error)
  if (status !== undefined && (status >= 500 || status === 401 || status === 403 || status === 429)) return false
  if (error instanceof RpcError) return !(MODERN_CODES.includes(error.code) && (status === 400 || status === 404))
  if (error instanceof WireError && error.code === 'bad_message') return true
  return status !== undefined && status >= 400
}

/** The modern revision to use after a refusal that lists versions; `undefined` when it is no such refusal, or lists legacy ones only. */
function offeredRevision(error: unknown): ModernRevision | undefined {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.unsupported_protocol_version) return undefined
  const supported = isJsonObject(error.data) ? error.data.supported : undefined
  return Array.isArray(supported) ? pickRevision(supported) : undefined
}

function pickRevision(versions: readonly unknown[]): ModernRevision | undefined {
  const chosen = MODERN_REVISIONS.toReversed().find((revision) => versions.includes(revision))
  if (chosen === undefined && versions.some((version) => typeof version === 'string' && looksModern(version))) {
    throw new WireError(
      'unsupported_version',
      `the server speaks ${keptText(versions.join(', '), WORD_CHARS)}, none of which this client does`,
    )
  }
  return chosen
}

function notModern(choice: EraChoice, why: string): undefined {
  if (choice === 'modern') throw new WireError('unsupported_version', `not a modern server: ${why}`)
  return undefined
}

/** What is kept of a server's own words, for as long as the connection lasts. */
const WORD_CHARS = 256
const ABOUT_CHARS = 32 * 1024
const INSTRUCTION_CHARS = 32 * 1024

const word = (said: unknown): string | undefined => (typeof said === 'string' ? keptText(said, WORD_CHARS) : undefined)

function readInfo(info: unknown): Implementation {
  if (!isJsonObject(info)) return { name: 'unknown', version: '0' }
  const { name, version } = info
  const more = JSON.stringify(info).length > ABOUT_CHARS ? {} : info
  return { ...more, name: word(name) ?? 'unknown', version: word(version) ?? '0' }
}

function readAbout(result: JsonObject): Pick<Agreement, 'capabilities' | 'instructions'> {
  const { capabilities = {}, instructions } = result
  if (JSON.stringify(capabilities).length > ABOUT_CHARS)
    throw new WireError('bad_message', `the server names capabilities of more than ${ABOUT_CHARS} characters`)
  return {
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? keptText(instructions, INSTRUCTION_CHARS) : undefined,
  }
}
