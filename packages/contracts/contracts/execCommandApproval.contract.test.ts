import { contractTests } from './fixture/contract-tests.ts'
import schema from './execCommandApproval.schema.json'

contractTests('execCommandApproval', schema, {
  request: { conversationId: 'abc123', callId: 'call_1', command: 'ls', cwd: '/WORK' },
  badRequest: { conversationId: 'abc123', callId: 'call_1', command: ['ls'], cwd: '/WORK' },
  response: { decision: 'deny', note: 'no' },
  badResponse: { decision: 'denied' },
})
