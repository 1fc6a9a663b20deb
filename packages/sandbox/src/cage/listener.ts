import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'

const FILE = 'socket'

/** Where something of this machine listens as services do: behind a file of this name in its folder, and behind a name without a file. */
export interface Listener {
  readonly file: string
  readonly name: string
}

/** Has the helper's probe listen in a folder while `use` does its work; undefined when it could not. */
export async function withListener<T>(
  binary: string,
  folder: string,
  use: (listener: Listener) => Promise<T>,
): Promise<T | undefined> {
  const name = `parley-check-${randomBytes(8).toString('hex')}`
  // By a name in its own working folder: the whole path may be too long for a socket.
  const server = spawn(binary, ['probe', 'serve', FILE, name], { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(server, 'close')
  try {
    const listens = once(server.stdout, 'data').then(() => true)
    if (!(await Promise.race([listens, ended.then(() => false)]))) return undefined
    return await use({ file: FILE, name })
  } finally {
    server.stdin.end()
    await ended
  }
}
