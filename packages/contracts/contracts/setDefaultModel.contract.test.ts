import { contractTests } from './fixture/contract-tests.ts'
import schema from './setDefaultModel.schema.json'

contractTests('setDefaultModel', schema, {
  request: { model: 'gpt-5-codex', reasoningEffort: 'high' },
  badRequest: { reasoningEffort: 'high' },
  response: { success: true },
  badResponse: { success: 'yes' },
})
