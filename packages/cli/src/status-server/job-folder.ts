import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalStatus, type Tester } from '@parley/judge'
import type { Invocation } from '../command-line/command.ts'
import { cacheDirOf } from '../data/cache-dir.ts'
import { type Testing, openTesting } from '../judge-process/open-testing.ts'
import { toolPlacesOf } from '../installed/tool-places.ts'
import { ownVersion } from '../version.ts'
import type { OpenStatus } from './open-status.ts'

/** The status server of a job's folder on this machine, with a sandbox of its own. */
export async function openJobFolder(folder: string, { io }: Pick<Invocation, 'io'>): Promise<OpenStatus> {
  const lazy = new LazyTesting(() => {
    const workFolder = mkdtempSync(join(tmpdir(), 'parley-status-'))
    const plan = { sandbox: 'auto', workFolder, cacheFolder: cacheDirOf(io), tools: toolPlacesOf(io.env) } as const
    const remove = (): void => rmSync(workFolder, { recursive: true, force: true })
    return { testing: openTesting(plan, (message) => io.err(`${message}\n`)), remove }
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

interface Opening {
  readonly testing: Promise<Testing>
  readonly remove: () => void
}

/** Opens sandbox and tester when the first self-test asks for them: an engine waits seconds for its servers, not for compilers. */
class LazyTesting implements Tester {
  /** Which there are is known only when it is open; who asks here does not mind. */
  readonly languages: Tester['languages'] = []
  readonly #open: () => Opening
  #opening: Opening | undefined

  constructor(open: () => Opening) {
    this.#open = open
  }

  async test(...request: Parameters<Tester['test']>): ReturnType<Tester['test']> {
    this.#opening ??= this.#open()
    const { tester } = await this.#opening.testing
    return tester.test(...request)
  }

  async close(): Promise<void> {
    const opening = this.#opening
    if (opening === undefined) return
    const testing = await opening.testing.catch(() => undefined)
    await testing?.close()
    opening.remove()
  }
}
