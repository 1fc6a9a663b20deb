// The floor of output from another process: a pipe, a socket, and nothing in between that looks at the bytes.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const bytes = process.argv[2] ?? '0'
const server = createServer((socket) => {
  spawn('/usr/bin/head', ['-c', bytes, '/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.pipe(socket)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${address === null || typeof address === 'string' ? '' : address.port}\n`)
})
