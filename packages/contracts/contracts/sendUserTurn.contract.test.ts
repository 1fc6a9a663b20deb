import { contractTests } from './fixture/contract-tests.ts'
import schema from './sendUserTurn.schema.json'

contractTests('sendUserTurn', schema, {
  request: {
    conversationId: 'abc123',
    items: [{ type: 'text', text: 'hi' }],
    sandboxPolicy: 'read-only',
    summary: 'always',
  },
  badRequest: { conversationId: 'abc123', items: [{ type: 'text' }], effort: 'extreme' },
  response: { accepted: true },
  badResponse: { accepted: 'yes' },
})
