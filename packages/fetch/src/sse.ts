export { type SseEvent, SseParser } from './sse-parser.ts'
