import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSandbox } from '@parley/sandbox'
import { execProcessContract } from '../process/fixture/exec-process-contract.ts'
import { boxedBackend } from './boxed-backend.ts'

const differences = { killsAtOnce: true, noSignals: true, groupEndsWithLeader: true, ownPids: true } as const

execProcessContract(
  'in a box',
  async () => {
    const runFolder = await mkdtemp(join(tmpdir(), 'parley-exec-'))
    const cacheFolder = join(tmpdir(), `parley-test-cage-${process.getuid?.() ?? 'user'}`)
    const { start } = await openSandbox({ driver: 'cage', cacheFolder, runFolder })
    if (start === undefined) throw new Error('this sandbox has no live programs')
    return {
      backend: boxedBackend({ start, profile: { writable: true } }),
      [Symbol.asyncDispose]: () => rm(runFolder, { recursive: true, force: true }),
    }
  },
  differences,
)
