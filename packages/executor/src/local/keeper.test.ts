import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { childrenOf } from './fixture/children-of.ts'
import { gone } from './fixture/gone.ts'
import { openKeeper } from './keeper.ts'

const env = { PATH: process.env['PATH'] ?? '' }

test.each([[false], [true]])(
  'a child whose number nobody was told yet is found by its streams, with what it started (another keeper: %s)',
  async (isAnother) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
    const inner = join(folder, 'streams')
    const listener = createServer((socket) => socket.resume()).listen(inner)
    await once(listener, 'listening')
    const stream = connect(inner)
    await once(stream, 'connect')
    const handle: { readonly fd: number } = Reflect.get(stream, '_handle')
    const inode = /\d+/.exec(readlinkSync(`/proc/self/fd/${handle.fd}`))?.[0] ?? ''
    const told = join(folder, 'told')
    const script = `sleep 1000 </dev/null & echo $$ $! > ${told}; sleep 1000; :`
    const child = spawn('/bin/sh', ['-c', script], { stdio: [stream, stream, stream], env, detached: true })
    // Whoever holds it is killed, and we are not to be.
    stream.destroy()
    await once(stream, 'close')
    const pids = () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [])
    await expect.poll(pids).toHaveLength(2)
    const keeper = openKeeper()
    keeper.begins([inode, '1'])
    keeper.begun(['1'])
    if (isAnother) {
      const [first] = childrenOf(process.pid).filter(({ command }) => command.includes('parley-keeper'))
      process.kill(first?.pid ?? 0, 'SIGKILL')
      await gone(first?.pid ?? 0)
      const another = () => childrenOf(process.pid).filter(({ command }) => command.includes(`stream:${inode}`)).length
      await expect.poll(another).toBe(1)
    }
    await keeper.end()
    for (const pid of pids()) await gone(pid)
    if (child.signalCode === null) await once(child, 'exit')
    listener.close()
    rmSync(folder, { recursive: true })
  },
)
