import { contractTests } from './fixture/contract-tests.ts'
import schema from './interruptConversation.schema.json'

contractTests('interruptConversation', schema, {
  request: { conversationId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: { conversationId: 'abc123' },
  response: { success: true, message: 'stopped' },
  badResponse: { message: 'stopped' },
})
