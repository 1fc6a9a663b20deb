import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockPath } from '@parley/agent/testing'

const TRIES = 1_200
const WAIT_MS = 50

/**
 * Every Codex of a machine wants the same port for a sign-in with the browser, and a second one cancels the first: only
 * one test at a time may let one begin, whichever process it runs in.
 */
export async function holdSignInPort(): Promise<Disposable> {
  const path = join(tmpdir(), 'parley-test-sign-in-port')
  for (let attempt = 1; ; attempt++) {
    try {
      const held = lockPath(path)
      return { [Symbol.dispose]: () => held.release() }
    } catch (error) {
      if (attempt === TRIES) throw error
      await sleep(WAIT_MS)
    }
  }
}
