import { contractTests } from './fixture/contract-tests.ts'
import schema from './getUserSavedConfig.schema.json'

contractTests('getUserSavedConfig', schema, {
  request: {},
  badRequest: { verbose: true },
  response: { config: { model: 'gpt-5', profiles: { fast: { model: 'gpt-5-mini' } } } },
  badResponse: { config: { model: 'gpt-5' } },
})
