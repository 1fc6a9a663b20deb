import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openProbe } from '../fixture/probe-service.ts'
import { openHttpServer } from './server.ts'

const door = { authenticate: () => ({ key: 'me' }), serviceFor: () => openProbe().service }
const openAt = (socketPath: string) => openHttpServer({ listen: { socketPath }, door, stateKey: randomBytes(32) })

test('a socket file that is served is not taken away; one that a dead process left is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'listen-'))
  const socketPath = join(folder, 's')
  const program = `require('node:net').createServer().listen(process.argv[1], () => process.stdout.write('up'))`
  const other = spawn(process.execPath, ['-e', program, socketPath], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(other.stdout, 'data')
  await expect(openAt(socketPath)).rejects.toThrow('EADDRINUSE')
  expect(statSync(socketPath).isSocket()).toBe(true)

  other.kill('SIGKILL')
  await once(other, 'exit')
  expect(existsSync(socketPath)).toBe(true)
  const server = await openAt(socketPath)
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  await server.close(0)
  rmSync(folder, { recursive: true })
})

test('a file that is no socket stays as it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'listen-'))
  const path = join(folder, 'notes')
  writeFileSync(path, 'mine')
  await expect(openAt(path)).rejects.toThrow('EADDRINUSE')
  expect(readFileSync(path, 'utf8')).toBe('mine')
  rmSync(folder, { recursive: true })
})

test('a client that never begins its TLS handshake does not hold up a shutdown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'listen-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  const server = await openHttpServer({ listen: { host: '127.0.0.1', port: 0, tls }, door, stateKey: randomBytes(32) })
  const silent = connect(server.port, '127.0.0.1')
  await once(silent, 'connect')
  const closed = once(silent, 'close')
  await server.close(0)
  await closed
  rmSync(folder, { recursive: true })
})
