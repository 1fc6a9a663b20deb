import { compositorPasses } from './fixture/composed-scenarios.ts'

// From one era to the other. All scenarios, in all eras: `npm run verify -- conformance`.
compositorPasses({ upstream: 'modern', clients: '2025-11-25', lost: [], scenario: 'tools-call-elicitation' })
compositorPasses({ upstream: 'legacy', clients: '2026-07-28', lost: [], scenario: 'tools-call-with-progress' })
compositorPasses({ upstream: 'legacy', clients: '2025-11-25', lost: [], scenario: 'resources-subscribe' })
