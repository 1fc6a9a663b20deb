import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const TRIES = 1_200
const WAIT_MS = 50
/** A name that is no file: it is known where the port is known, whoever the user, and goes with its process. */
const NAME = '\0parley-test-sign-in-port'

/**
 * Every Codex of a machine wants the same port for a sign-in with the browser, and a second one cancels the first: only
 * one test at a time may let one begin, whichever process it runs in.
 */
export async function holdSignInPort(): Promise<AsyncDisposable> {
  for (let attempt = 1; ; attempt++) {
    try {
      const server = await listening()
      return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) }
    } catch (error) {
      if (attempt === TRIES) throw error
      await sleep(WAIT_MS)
    }
  }
}

function listening(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(NAME, () => resolve(server))
  })
}
