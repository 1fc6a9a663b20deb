import { contractTests } from './fixture/contract-tests.ts'
import schema from './sendUserMessage.schema.json'

contractTests('sendUserMessage', schema, {
  request: { conversationId: 'abc123', items: [{ type: 'text', text: 'hi' }] },
  badRequest: { conversationId: 'abc123', items: [] },
  response: { accepted: true },
  badResponse: {},
})
