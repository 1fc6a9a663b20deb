import { contractTests } from './fixture/contract-tests.ts'
import schema from './loginApiKey.schema.json'

contractTests('loginApiKey', schema, {
  request: { apiKey: 'sk-of-nobody' },
  badRequest: { apiKey: '' },
  response: { success: true },
  badResponse: { message: 'done' },
})
