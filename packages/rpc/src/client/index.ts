export { Client, connectClient } from './client.ts'
export type { ClientLimits } from './client-limits.ts'
export type { ClientOptions, RequestOptions } from './client-options.ts'
export { applyElicitationDefaults } from './elicitation-defaults.ts'
export type { AskContext, ClientHandlers } from './handlers.ts'
export {
  type HttpAnswer,
  type HttpCall,
  HttpCallFailed,
  type HttpCallFailure,
  type HttpCaller,
  type HttpCallerOptions,
  openHttpCaller,
  readEventBatches,
  readEvents,
  readText,
} from './http-caller.ts'
export { type SseEvent, SseParser } from './sse-parser.ts'
export { type HttpTransportOptions, httpTransport } from './http-transport.ts'
export { memoryPair, memoryTransport } from './memory-transport.ts'
export { stdioTransport } from './stdio-transport.ts'
export type { ClientTransport } from './transport.ts'
export { webSocketTransport } from './web-socket-transport.ts'
export { WireError } from './wire-error.ts'
