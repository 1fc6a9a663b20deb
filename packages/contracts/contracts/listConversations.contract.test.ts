import { contractTests } from './fixture/contract-tests.ts'
import schema from './listConversations.schema.json'

contractTests('listConversations', schema, {
  request: { status: 'active', model: 'gpt-5' },
  badRequest: { status: 'asleep' },
  response: {
    conversations: [
      { id: '01a1e073-7a42-7000-8000-000000000001', model: 'gpt-5', createdAt: '2026-01-01T00:00:00Z', status: 'idle' },
    ],
  },
  badResponse: { conversations: [{ model: 'gpt-5' }] },
})
