import { contractTests } from './fixture/contract-tests.ts'
import schema from './applyPatchApproval.schema.json'

contractTests('applyPatchApproval', schema, {
  request: {
    conversationId: '01a1e073-7a42-7000-8000-000000000001',
    callId: 'call_1',
    fileChanges: [{ path: 'a.txt', type: 'create', diff: '+a' }],
  },
  badRequest: { conversationId: '01a1e073-7a42-7000-8000-000000000001', callId: 'call_1', fileChanges: [] },
  response: { decision: 'allow' },
  badResponse: { decision: 'approved' },
})
