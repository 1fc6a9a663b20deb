import { clientPasses } from './fixture/client-scenarios.ts'

clientPasses('conformance-0.1.16', [
  { scenario: 'initialize' },
  { scenario: 'tools_call' },
  { scenario: 'elicitation-sep1034-client-defaults' },
  { scenario: 'sse-retry' },
])
