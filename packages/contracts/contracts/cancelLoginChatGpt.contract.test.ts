import { contractTests } from './fixture/contract-tests.ts'
import schema from './cancelLoginChatGpt.schema.json'

contractTests('cancelLoginChatGpt', schema, {
  request: { loginId: '01a1e073-7a42-7000-8000-000000000001' },
  badRequest: { loginId: 'abc123' },
  response: { success: true },
  badResponse: {},
})
