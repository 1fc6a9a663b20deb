import { contractTests } from './fixture/contract-tests.ts'
import schema from './logoutChatGpt.schema.json'

contractTests('logoutChatGpt', schema, {
  request: {},
  badRequest: { everywhere: true },
  response: { success: true, message: 'bye' },
  badResponse: { message: 'bye' },
})
