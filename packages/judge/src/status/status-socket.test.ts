import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connectClient, httpTransport } from '@parley/rpc'
import { expect, test } from 'vitest'
import { specOf } from '../fixture/open-bench.ts'
import type { Tester } from '../tester.ts'
import { SelfTests } from './self-test.ts'
import { statusService } from './status-service.ts'
import { openStatusSocket, shortSocketPath } from './status-socket.ts'

const NO_TESTER: Tester = { languages: [], close: () => Promise.resolve(), test: () => Promise.reject(new Error('no')) }

function service(said: string[]) {
  const spec = specOf({ language: 'cpp', code: '' }, 'job_1')
  const parts = {
    tester: NO_TESTER,
    spec,
    inputFolder: '/',
    judgeName: 'j',
    claim: 1,
    attempt: 1,
    signal: new AbortController().signal,
  }
  const voice = { status: ({ summary }: { summary: string }) => `${said.push(summary)}` }
  return statusService({ voice, selfTests: new SelfTests(parts), spec, version: '1', now: Date.now })
}

test('another process of this user reaches the job over a socket file, and nobody else could', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const said: string[] = []
  const socket = await openStatusSocket({ service: service(said), socketPath: join(folder, 's') })
  expect((await stat(socket.socketPath)).mode & 0o777).toBe(0o600)
  const transport = httpTransport({ url: 'http://localhost/mcp', socketPath: socket.socketPath })
  const client = await connectClient(transport, { clientInfo: { name: 'relay', version: '1' } })
  const call = (summary: string) => client.request('tools/call', { name: 'status.update', arguments: { stage: 'plan', summary } })
  expect(await call('heard')).toMatchObject({ structuredContent: { seq: '1' } })
  expect(said).toEqual(['heard'])
  const failing = client.request('tools/call', { name: 'judge.self_test', arguments: { source: 'x' } })
  expect(await failing).toMatchObject({
    structuredContent: { ok: false, status: 'error', error: 'the judge could not test it: no' },
  })
  await client.close()
  await socket.close()
  expect(existsSync(join(folder, 's'))).toBe(false)
  await rm(folder, { recursive: true, force: true })
})

test('a path that no socket may have is refused, and a shorter one is found', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sock-'))
  const deep = join(folder, 'd'.repeat(120))
  await mkdir(deep)
  await expect(openStatusSocket({ service: service([]), socketPath: join(deep, 's') })).rejects.toThrow(/longer than/)
  expect(shortSocketPath(folder, 's').path).toBe(join(folder, 's'))
  const { path, remove } = shortSocketPath(deep, 's')
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  const socket = await openStatusSocket({ service: service([]), socketPath: path })
  await socket.close()
  remove()
  expect(existsSync(dirname(path))).toBe(false)
  await rm(folder, { recursive: true, force: true })
})
