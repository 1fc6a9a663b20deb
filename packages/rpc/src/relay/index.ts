export { type Relay, type RelayOptions, openRelay } from './relay.ts'
export { DEFAULT_RELAY_LIMITS, type RelayLimits } from './relay-limits.ts'
export { type ParkedCall, ParkedCalls } from './parked-call.ts'
