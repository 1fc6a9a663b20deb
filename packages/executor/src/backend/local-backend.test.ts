import { openProcesses } from '../local/open-processes.ts'
import { execProcessContract } from '../process/fixture/exec-process-contract.ts'
import { localBackend } from './local-backend.ts'

execProcessContract('of this machine', async () => {
  const processes = await openProcesses()
  return { backend: localBackend({ processes, graceMs: 500 }), [Symbol.asyncDispose]: () => processes.close(0) }
})
