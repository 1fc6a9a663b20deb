import { contractTests } from './fixture/contract-tests.ts'
import schema from './loginChatGpt.schema.json'

contractTests('loginChatGpt', schema, {
  request: {},
  badRequest: 'now',
  response: { loginId: '01a1e073-7a42-7000-8000-000000000001', authUrl: 'https://auth.example.org/' },
  badResponse: { loginId: 'abc123', authUrl: 'https://auth.example.org/' },
})
