import { contractTests } from './fixture/contract-tests.ts'
import schema from './getUserAgent.schema.json'

contractTests('getUserAgent', schema, {
  request: {},
  badRequest: { verbose: true },
  response: { userAgent: 'codex_cli_rs/0.44.0' },
  badResponse: { userAgent: '' },
})
