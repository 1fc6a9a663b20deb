import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LazyTester, openLocalStatus } from '@parley/judge'
import type { Invocation } from '@parley/command-line'
import { cacheDirOf } from '../data/cache-dir.ts'
import { openTesting } from '../judge-process/open-testing.ts'
import { toolPlacesOf } from '../installed/tool-places.ts'
import { ownVersion } from '../version.ts'
import type { OpenStatus } from './open-status.ts'

/** The status server of a job's folder on this machine, with a sandbox of its own. */
export async function openJobFolder(folder: string, { io }: Pick<Invocation, 'io'>): Promise<OpenStatus> {
  const lazy = new LazyTester(async () => {
    const workFolder = mkdtempSync(join(tmpdir(), 'parley-status-'))
    const plan = { sandbox: 'auto', workFolder, cacheFolder: cacheDirOf(io), tools: toolPlacesOf(io.env) } as const
    const remove = (): void => rmSync(workFolder, { recursive: true, force: true })
    try {
      const testing = await openTesting(plan, (message) => io.err(`${message}\n`))
      return { tester: testing.tester, close: () => testing.close().finally(remove) }
    } catch (error) {
      remove()
      throw error
    }
  })
  const local = await openLocalStatus({
    folder,
    tester: lazy,
    version: ownVersion(),
    now: io.now,
    random: io.random,
  })
  return {
    service: local.service,
    close: async () => {
      local.close()
      await lazy.close()
    },
  }
}
