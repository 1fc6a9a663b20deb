// For tests of other rooms.
export { keepBusy, lastProcessor } from './busy-processor.ts'
export { CAGE_CACHE } from './cage-cache.ts'
export { filesLeft, processesLeft } from './left-over.ts'
export { skipAloud } from './skip-aloud.ts'
