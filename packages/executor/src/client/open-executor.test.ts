import { dialFrames, listenFrames } from '@parley/rpc/frame'
import { localBackend } from '../backend/local-backend.ts'
import { openProcesses } from '../local/open-processes.ts'
import { execProcessContract } from '../process/fixture/exec-process-contract.ts'
import { openExecServer } from '../server/exec-server.ts'
import { openExecutor } from './open-executor.ts'

execProcessContract('behind an exec-server', async (folder) => {
  const processes = await openProcesses()
  const server = openExecServer({
    backend: localBackend({ processes, graceMs: 500 }),
    where: { version: '0', cwd: folder, env: {} },
  })
  const listener = await listenFrames({ listen: { host: '127.0.0.1', port: 0 }, onLink: (link) => server.serve(link) })
  const executor = await openExecutor({ dial: () => dialFrames({ url: listener.url }), clientName: 'test' })
  return {
    backend: executor,
    [Symbol.asyncDispose]: async () => {
      await executor.close()
      await listener.close()
      await server.close()
      await processes.close(0)
    },
  }
})
