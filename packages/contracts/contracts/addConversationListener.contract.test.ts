import { contractTests } from './fixture/contract-tests.ts'
import schema from './addConversationListener.schema.json'

contractTests('addConversationListener', schema, {
  request: { conversationId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: {},
  response: { subscriptionId: '01a1e073-7a42-7000-8000-000000000001' },
  badResponse: {},
})
