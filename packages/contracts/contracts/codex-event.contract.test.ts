import { contractTests } from './fixture/contract-tests.ts'
import schema from './codex-event.schema.json'

contractTests('codex-event', schema, {
  request: { type: 'agent_message', message: 'Hello.' },
  badRequest: { type: 'agent_message' },
  response: null,
  badResponse: {},
})
