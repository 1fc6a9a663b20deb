export { type Credentials, Denied, type Door, type Wire } from './door.ts'
export { type CallbackServer, openCallbackServer } from './http/callback-server.ts'
export { challenge, deniedHeaders } from './http/answer.ts'
export { type HttpReply, type HttpRequest, type Route } from './http/route.ts'
export { BodyWithoutRoom } from './http/routes.ts'
export { openHttpServer } from './http/server.ts'
export { type HttpServer, type HttpServerOptions, type ListenAt, type ServerHolds } from './http/server-options.ts'
export { joinEnds, type TunnelEnd } from './tunnel/tunnel-end.ts'
export { type Knock, type TunnelRoute } from './tunnel/tunnel-endpoint.ts'
export { MeterTable } from './limit/meter-table.ts'
export { DEFAULT_LIMITS, type Limits } from './limits.ts'
export { type Observer, type Served } from './observer.ts'
export { type Era, HELD, LATEST_LEGACY, LATEST_MODERN, LEGACY_REVISIONS, MODERN_REVISIONS, type Revision } from './revision.ts'
export {
  type Call,
  type Caller,
  type ClientView,
  type HeaderParam,
  type Implementation,
  InputRequired,
  type InputRequest,
  type Link,
  type ListKind,
  type LogLevel,
  type Service,
  type ServiceResult,
} from './service.ts'
export { JsonText } from './message/text.ts'
export { type LineFault, LineReader, type LineSink } from './stdio/lines.ts'
export { serveStdio, type StdioServerOptions } from './stdio/server.ts'
export { type Admission, openTokenServer, type TokenServer, type TokenServerOptions } from './stdio/token-server.ts'
export { serveMemory } from './memory.ts'
export {
  applyElicitationDefaults,
  type AskContext,
  Client,
  type ClientHandlers,
  type ClientLimits,
  type ClientLink,
  type ClientOptions,
  type ClientTransport,
  connectClient,
  type HttpTransportOptions,
  httpTransport,
  memoryPair,
  memoryTransport,
  type OutgoingRequest,
  type RequestOptions,
  type Sink,
  stdioTransport,
  webSocketTransport,
  WireError,
} from './client/index.ts'
export { missingCapability } from './core/capability.ts'
export { isAtLeast, isLogLevel } from './core/log-level.ts'
export { MAY_ASK } from './core/modern-call.ts'
export { readMirroring } from './client/tool/mirrored-headers.ts'
export { canBeAsked } from './relay/askable.ts'
export { type ForwardParts, forward } from './relay/forward.ts'
export { type ParkedCall, ParkedCalls } from './relay/parked-call.ts'
export { DEFAULT_RELAY_LIMITS, type RelayLimits } from './relay/relay-limits.ts'
export { OutputWrapping, unlessVisited, withoutInvalidTools } from './relay/translate.ts'
export { type Orphans, Upstream } from './relay/upstream.ts'
export { type Relay, type RelayOptions, openRelay } from './relay/relay.ts'
