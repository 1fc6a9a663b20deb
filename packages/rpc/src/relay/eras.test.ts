import { relayPasses } from './fixture/relayed-scenarios.ts'

/** A legacy server asks one thing after the other and has no names for its questions, so these two cannot be told. */
const LOST_IN_TRANSLATION = ['input-required-result-basic-elicitation', 'input-required-result-multiple-input-requests']

// From one era to the other. Within an era: `npm run verify -- conformance`.
relayPasses({ upstream: 'modern', clients: '2025-11-25', lost: [] })
relayPasses({ upstream: 'legacy', clients: '2026-07-28', lost: LOST_IN_TRANSLATION })
