import { contractTests } from './fixture/contract-tests.ts'
import schema from './archiveConversation.schema.json'

contractTests('archiveConversation', schema, {
  request: { conversationId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: { conversationId: 5 },
  response: { success: true },
  badResponse: {},
})
