import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'

/** Takes connections and never says a word. */
async function openSilence() {
  const server = createServer((socket) => socket.on('error', () => undefined).resume())
  const connected = once(server, 'connection').then(([socket]) => onTestFinished(() => void socket.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { at: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, connected }
}

async function endsAt(signal: NodeJS.Signals, command: ReturnType<Scratch['begin']>, what: string): Promise<void> {
  command.kill(signal)
  expect(await command.exited).toEqual({ code: 130, signal: null })
  await expect.poll(command.err).toContain(`parley: ended before ${what} was there`)
}

test.each(['SIGINT', 'SIGTERM'] as const)('one %s ends an executor that has no gateway yet', async (signal) => {
  await using scratch = new Scratch()
  writeFileSync(join(scratch.folder, 'token'), 'exe_x', { mode: 0o600 })
  const executor = scratch.begin(['exec-server', '--join', 'http://127.0.0.1:1', '--token-file', 'token'])
  await expect.poll(executor.err, { timeout: 30_000 }).toContain('trying on')
  await endsAt(signal, executor, 'the gateway')
})

test.each([
  ['the executor', (at: string) => ['proxy', '--port', '0', '--executor', `ws://${at}`, '--', 'cat']],
  ['the server', (at: string) => ['proxy', '--port', '0', `http://${at}/mcp`]],
  ['the gateway', (at: string) => ['gateway', '--port', '0', '--database', `postgres://x:y@${at}/z`]],
])('one signal ends a command that waits for %s', async (what, args) => {
  await using scratch = new Scratch()
  const silence = await openSilence()
  const waiting = scratch.begin(args(silence.at))
  await silence.connected
  await endsAt('SIGINT', waiting, what)
})

test('one signal ends a proxy whose command does not answer, and the command with it', async () => {
  await using scratch = new Scratch()
  const proxy = scratch.begin(['proxy', '--port', '0', '--', '/bin/sh', '-c', 'echo here >&2; exec sleep 1000'])
  await expect.poll(proxy.err, { timeout: 30_000 }).toContain('here')
  await endsAt('SIGTERM', proxy, 'the server')
})
