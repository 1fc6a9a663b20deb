import { contractTests } from './fixture/contract-tests.ts'
import schema from './execOneOffCommand.schema.json'

contractTests('execOneOffCommand', schema, {
  request: { command: ['ls'], timeoutMs: 1000, sandboxPolicy: 'read-only' },
  badRequest: { command: [] },
  response: { exitCode: 0, stdout: '', stderr: '', output: '' },
  badResponse: { stdout: '', stderr: '' },
})
