import { clientPasses } from './fixture/client-scenarios.ts'

// Every client scenario that is neither about OAuth nor about an extension. The older suite: `npm run verify -- conformance`.
clientPasses('conformance-0.2.0-alpha.12', [
  { scenario: 'initialize' },
  { scenario: 'tools_call' },
  { scenario: 'tools_call', version: '2026-07-28' },
  { scenario: 'elicitation-sep1034-client-defaults' },
  { scenario: 'sse-retry' },
  { scenario: 'request-metadata' },
  { scenario: 'sep-2322-client-request-state' },
  { scenario: 'http-standard-headers' },
  { scenario: 'http-custom-headers' },
  { scenario: 'http-invalid-tool-headers' },
  { scenario: 'json-schema-ref-no-deref' },
  { scenario: 'json-schema-2020-12-preservation' },
  { scenario: 'json-schema-2020-12-preservation', version: '2026-07-28' },
])
