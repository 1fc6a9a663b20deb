import { contractTests } from './fixture/contract-tests.ts'
import schema from './resumeConversation.schema.json'

contractTests('resumeConversation', schema, {
  request: { conversationId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: {},
  response: { success: true, conversationId: '01a1e073-7a42-7000-8000-000000000001' },
  badResponse: { success: 1 },
})
