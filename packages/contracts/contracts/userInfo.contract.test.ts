import { contractTests } from './fixture/contract-tests.ts'
import schema from './userInfo.schema.json'

contractTests('userInfo', schema, {
  request: {},
  badRequest: { verbose: true },
  response: { allegedUserEmail: 'a@example.org' },
  badResponse: { allegedUserEmail: 'nobody' },
})
