import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { dialFrames } from '@parley/rpc/frame'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { openProcesses } from '../local/open-processes.ts'
import { type Differences, execProcessContract } from '../process/fixture/exec-process-contract.ts'
import { openExecutor } from './open-executor.ts'

/** What the real one does otherwise. */
const DIFFERENCES: Differences = {
  killsAtOnce: true,
  losesSilently: true,
  neverHolds: true,
  oneAtATime: true,
  hasTerminals: true,
}

const peer = await peerOrSkip('codex-0.166')

execProcessContract(
  'behind the real codex exec-server',
  async (folder) => {
    if (peer === undefined) return undefined
    const processes = await openProcesses()
    const home = join(folder, 'home')
    mkdirSync(home)
    const running = await processes.start({
      command: process.execPath,
      args: [peer.bin('codex'), 'exec-server', '--listen', 'ws://127.0.0.1:0'],
      env: { PATH: process.env['PATH'] ?? '', HOME: home, CODEX_HOME: home },
      cwd: folder,
    })
    const [line] = await once(running.stdout, 'data')
    const url = String(line).trim()
    const executor = await openExecutor({ dial: () => dialFrames({ url }), clientName: 'test' })
    return {
      backend: executor,
      [Symbol.asyncDispose]: async () => {
        await executor.close()
        await processes.close(0)
      },
    }
  },
  DIFFERENCES,
)
