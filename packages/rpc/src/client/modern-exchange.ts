import { type JsonObject, RPC_CODES, RpcError, isJsonObject } from '@parley/protocol'
import { META, type Revision } from '../revision.ts'
import type { ExchangeOptions } from './client-options.ts'
import type { Connection, Reply } from './connection.ts'
import { mirroredHeaders } from './tool/mirrored-headers.ts'
import { type ClientFace, envelope } from './negotiate.ts'
import type { ToolHeaders } from './tool/tool-list.ts'

export interface ModernParts {
  readonly connection: Connection
  readonly face: ClientFace
  readonly revision: Revision
  readonly toolHeaders: ToolHeaders
  /** Lists the tools anew, so that `toolHeaders` knows them. */
  readonly listTools: () => Promise<unknown>
}

/** Sends one modern request: the envelope in `_meta`, and over HTTP the headers that repeat parts of the body. */
export async function exchangeModern(
  parts: ModernParts,
  method: string,
  params: JsonObject,
  options: ExchangeOptions,
): Promise<Reply> {
  const { connection, toolHeaders } = parts
  const enveloped = { ...params, _meta: meta(parts, params, options) }
  if (connection.link.kind !== 'http') return connection.call(method, enveloped, options)
  const send = (): Promise<Reply> => {
    const mirrored = method === 'tools/call' ? toolHeaders.of(params.name) : []
    return connection.call(method, enveloped, { ...options, headers: mirroredHeaders(method, params, mirrored) })
  }
  if (method !== 'tools/call') return send()
  if (!toolHeaders.knows(params.name)) await parts.listTools()
  return send().catch(async (error: unknown) => {
    if (!(error instanceof RpcError) || error.code !== RPC_CODES.header_mismatch) throw error
    // Refused before it ran: the schema has changed since it was listed, or is not the one that we know.
    await parts.listTools()
    return send()
  })
}

function meta({ face, revision }: ModernParts, params: JsonObject, { onBehalfOf, logLevel }: ExchangeOptions): JsonObject {
  const speaker = onBehalfOf === undefined ? face : { info: onBehalfOf.info ?? face.info, capabilities: onBehalfOf.capabilities }
  return {
    ...(isJsonObject(params._meta) ? params._meta : {}),
    ...onBehalfOf?.stamp,
    ...envelope(speaker, revision),
    ...(logLevel === undefined ? {} : { [META.logLevel]: logLevel }),
  }
}
