import { contractTests } from './fixture/contract-tests.ts'
import schema from './removeConversationListener.schema.json'

contractTests('removeConversationListener', schema, {
  request: { subscriptionId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: { subscriptionId: 'abc123' },
  response: {},
  badResponse: { success: true },
})
