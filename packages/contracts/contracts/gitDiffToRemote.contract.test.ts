import { contractTests } from './fixture/contract-tests.ts'
import schema from './gitDiffToRemote.schema.json'

contractTests('gitDiffToRemote', schema, {
  request: { cwd: '/WORK/repo' },
  badRequest: {},
  response: { sha: '1111111111111111111111111111111111111111', diff: '' },
  badResponse: { sha: 'main', diff: '' },
})
