import { contractTests } from './fixture/contract-tests.ts'
import schema from './authStatusChange.schema.json'

contractTests('authStatusChange', schema, {
  request: { authenticated: true, method: 'chatGpt' },
  badRequest: { method: 'chatGpt' },
  response: null,
  badResponse: {},
})
