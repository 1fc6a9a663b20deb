import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol/wire'
import { isModernRevision, META, MODERN_REVISIONS, type ModernRevision } from '../revision.ts'
import type { ClientView, LogLevel } from '../service.ts'
import { keptCapabilities, keptInfo } from './client-view.ts'
import { isLogLevel } from './log-level.ts'

/** What a modern request says about itself in `_meta`. Nothing is remembered from one request to the next. */
export interface Envelope {
  readonly revision: ModernRevision
  readonly client: ClientView
  readonly logLevel: LogLevel | undefined
}

/** A request is modern when it claims to be, whatever else is wrong with it. */
export function claimsModern(params: JsonObject): boolean {
  const meta = params['_meta']
  return isJsonObject(meta) && meta[META.protocolVersion] !== undefined
}

/** Reads the envelope; throws the error that the specification has for each fault. */
export function readEnvelope(params: JsonObject): Envelope {
  const meta = params['_meta']
  const version = isJsonObject(meta) ? meta[META.protocolVersion] : undefined
  if (!isJsonObject(meta) || typeof version !== 'string') {
    throw new RpcError('invalid_params', `params._meta must carry ${META.protocolVersion} and ${META.clientCapabilities}`)
  }
  const capabilities = meta[META.clientCapabilities]
  if (!isJsonObject(capabilities))
    throw new RpcError('invalid_params', `params._meta must carry ${META.clientCapabilities}, an object`)
  const said = meta[META.clientInfo]
  const info = said === undefined ? undefined : keptInfo(said, `params._meta ${META.clientInfo}`)
  const logLevel = meta[META.logLevel]
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    throw new RpcError('invalid_params', `params._meta ${META.logLevel} must be one of MCP's eight log levels`)
  }
  if (!isModernRevision(version)) throw unsupportedVersion(version)
  return { revision: version, client: { info, capabilities: keptCapabilities(capabilities) }, logLevel }
}

export function unsupportedVersion(requested: string): RpcError {
  return new RpcError('unsupported_protocol_version', `protocol version ${requested.slice(0, 64)} is not served`, {
    supported: [...MODERN_REVISIONS],
    requested: requested.slice(0, 64),
  })
}
