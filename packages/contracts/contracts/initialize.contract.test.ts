import { contractTests } from './fixture/contract-tests.ts'
import schema from './initialize.schema.json'

contractTests('initialize', schema, {
  request: { clientInfo: { name: 'recorder', version: '1.0.0' } },
  badRequest: { clientInfo: { name: 'recorder' } },
  response: { userAgent: 'codex_cli_rs/0.44.0' },
  badResponse: {},
})
