import { contractTests } from './fixture/contract-tests.ts'
import schema from './sessionConfigured.schema.json'

contractTests('sessionConfigured', schema, {
  request: {
    sessionId: '01a1e073-7a42-7000-8000-000000000001',
    model: 'gpt-5',
    historyLogId: 0,
    historyEntryCount: 0,
    rolloutPath: '/HOME/a.jsonl',
  },
  badRequest: { sessionId: '01a1e073-7a42-7000-8000-000000000001' },
  response: null,
  badResponse: {},
})
