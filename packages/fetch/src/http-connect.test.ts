import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { openHttpFetcher } from './http-fetcher.ts'

/** Listens and never takes a connection: a few wait in the kernel, the next ones get no answer at all. */
const DEAF = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`
const WAITING = 6

test('a connection that nobody takes is given up in time, and counts as unreachable', async () => {
  const deaf = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] })
  const waiting: Socket[] = []
  const http = openHttpFetcher({ connectMs: 300, connections: 1 })
  try {
    const [line] = await once(createInterface({ input: deaf.stdout }), 'line')
    const port = Number(line)
    for (let index = 0; index < WAITING; index += 1) waiting.push(connect(port, '127.0.0.1').on('error', () => undefined))
    await Promise.race(waiting.slice(0, 1).map((socket) => once(socket, 'connect')))
    const call = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {}, headersMs: 600_000, idleMs: 600_000 } as const
    await expect(http.call(call)).rejects.toMatchObject({ name: 'HttpCallFailed', code: 'unreachable' })
  } finally {
    await http.close()
    for (const socket of waiting) socket.destroy()
    deaf.kill('SIGKILL')
    await once(deaf, 'exit')
  }
})
