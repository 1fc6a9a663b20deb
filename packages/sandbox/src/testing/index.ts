// For tests of other rooms.
export { keepBusy, lastProcessor } from './busy-processor.ts'
export { skipAloud } from './skip-aloud.ts'
