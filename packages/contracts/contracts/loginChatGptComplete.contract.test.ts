import { contractTests } from './fixture/contract-tests.ts'
import schema from './loginChatGptComplete.schema.json'

contractTests('loginChatGptComplete', schema, {
  request: { loginId: '01a1e073-7a42-7000-8000-000000000001', success: false, error: 'cancelled' },
  badRequest: { success: true },
  response: null,
  badResponse: {},
})
