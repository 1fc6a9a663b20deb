import { contractTests } from './fixture/contract-tests.ts'
import schema from './getAuthStatus.schema.json'

contractTests('getAuthStatus', schema, {
  request: { includeToken: true },
  badRequest: { includeToken: 'yes' },
  response: { authenticated: true, method: 'apiKey', token: 'sk' },
  badResponse: { method: 'apiKey' },
})
