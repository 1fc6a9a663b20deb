import { contractTests } from './fixture/contract-tests.ts'
import schema from './newConversation.schema.json'

contractTests('newConversation', schema, {
  request: { model: 'gpt-5', approvalPolicy: 'on-request' },
  badRequest: { model: 123 },
  response: { conversationId: 'abc123', model: 'gpt-5' },
  badResponse: { model: 'gpt-5' },
})
