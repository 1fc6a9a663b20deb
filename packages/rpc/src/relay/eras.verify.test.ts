import { relayPasses } from './fixture/relayed-scenarios.ts'

relayPasses({ upstream: 'modern', clients: '2026-07-28', lost: [] })
relayPasses({ upstream: 'legacy', clients: '2025-11-25', lost: [] })
