import { contractTests } from './fixture/contract-tests.ts'
import schema from './fuzzyFileSearch.schema.json'

contractTests('fuzzyFileSearch', schema, {
  request: { query: 'rank', roots: ['/WORK/repo'] },
  badRequest: { query: 'rank' },
  response: { files: [] },
  badResponse: { files: [{ path: 'a' }] },
})
