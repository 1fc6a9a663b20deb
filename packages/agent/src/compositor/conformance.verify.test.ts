import { compositorPasses } from './fixture/composed-scenarios.ts'

/**
 * A legacy server asks one thing after the other and has no names for its questions. And it is told once what can be asked, of
 * whoever calls later: so it cannot say beforehand that one of them lacks what its tool needs.
 */
const LOST_IN_TRANSLATION = [
  'input-required-result-basic-elicitation',
  'input-required-result-capability-check',
  'input-required-result-multiple-input-requests',
  'server-stateless',
]

compositorPasses({ upstream: 'modern', clients: '2025-11-25', lost: [] })
compositorPasses({ upstream: 'legacy', clients: '2026-07-28', lost: LOST_IN_TRANSLATION })
compositorPasses({ upstream: 'modern', clients: '2026-07-28', lost: [] })
compositorPasses({ upstream: 'legacy', clients: '2025-11-25', lost: [] })
