export {
  type HttpAnswer,
  type HttpCall,
  HttpCallFailed,
  type HttpCallFailure,
  type HttpFetcher,
  type HttpFetcherOptions,
  openHttpFetcher,
  readEventBatches,
  readText,
} from './http-fetcher.ts'
export { type SseEvent, SseParser } from './sse-parser.ts'
