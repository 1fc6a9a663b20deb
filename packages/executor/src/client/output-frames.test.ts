import { type FrameLink, listenFrames, dialFrames } from '@parley/rpc/frame'
import { expect, test } from 'vitest'
import { localBackend } from '../backend/local-backend.ts'
import { openProcesses } from '../local/open-processes.ts'
import { openExecServer } from '../server/exec-server.ts'
import { openExecutor } from './open-executor.ts'

/** An exec-server, and how many bytes of output went as frames and as text. */
async function counting(dialled: (link: FrameLink) => FrameLink = (link) => link) {
  const processes = await openProcesses()
  const server = openExecServer({ backend: localBackend({ processes }), where: { version: '0', cwd: '/', env: {} } })
  const sent = { frames: 0, texts: 0 }
  const listener = await listenFrames({
    listen: { host: '127.0.0.1', port: 0 },
    onLink: (link) =>
      server.serve({
        open: (sink) => link.open(sink),
        send: (text) => {
          if (text.includes('process/output')) sent.texts += 1
          link.send(text)
        },
        sendBytes: (parts) => {
          sent.frames += 1
          link.sendBytes?.(parts)
        },
        bufferedBytes: () => link.bufferedBytes(),
        drained: (below) => link.drained(below),
        close: (reason) => link.close(reason),
      }),
  })
  const executor = await openExecutor({ dial: async () => dialled(await dialFrames({ url: listener.url })), clientName: 'test' })
  return {
    sent,
    executor,
    [Symbol.asyncDispose]: async () => {
      await executor.close()
      await listener.close()
      await server.close()
      await processes.close(0)
    },
  }
}

const HELLO = { processId: 'p', argv: ['/bin/echo', 'hello'] as const, env: {}, cwd: '/', tty: false, pipeStdin: false }

test('output passes as bytes between our own ends', async () => {
  await using counted = await counting()
  const process = await counted.executor.start(HELLO)
  await process.ended
  expect((await process.read({})).chunks[0]?.bytes.toString()).toBe('hello\n')
  expect(counted.sent).toEqual({ frames: 1, texts: 0 })
})

test('on a wire that carries texts alone it passes as text', async () => {
  await using counted = await counting((link) => ({
    open: (sink) =>
      link.open({ text: (text) => sink.text(text), fault: (fault) => sink.fault(fault), ended: (why) => sink.ended(why) }),
    send: (text) => link.send(text),
    bufferedBytes: () => link.bufferedBytes(),
    drained: (below) => link.drained(below),
    close: (reason) => link.close(reason),
  }))
  const process = await counted.executor.start(HELLO)
  await process.ended
  expect((await process.read({})).chunks[0]?.bytes.toString()).toBe('hello\n')
  expect(counted.sent).toEqual({ frames: 0, texts: 1 })
})
