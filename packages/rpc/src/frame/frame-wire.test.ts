import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { dialFrames } from './dial-frames.ts'
import type { FrameLimits, FrameLink } from './frame-link.ts'
import { listenFrames } from './listen-frames.ts'

/** What one end hears. */
function heardBy(link: FrameLink) {
  const texts: string[] = []
  const faults: string[] = []
  const over = Promise.withResolvers<string>()
  link.open({ text: (text) => void texts.push(text), fault: (reason) => void faults.push(reason), ended: over.resolve })
  return { link, texts, faults, ended: over.promise }
}

/** A listener that says everything back. */
async function echoing(options: { token?: string; limits?: Partial<FrameLimits>; socketPath?: string } = {}) {
  const { socketPath, ...rest } = options
  const links: FrameLink[] = []
  const ends: string[] = []
  const faults: string[] = []
  const listener = await listenFrames({
    ...rest,
    listen: socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { socketPath },
    onLink: (link) => {
      links.push(link)
      link.open({
        text: (text) => link.send(text),
        fault: (reason) => void faults.push(reason),
        ended: (reason) => void ends.push(reason),
      })
    },
  })
  return { ...listener, links, ends, faults, [Symbol.asyncDispose]: () => listener.close() }
}

test('texts pass both ways, whole and in order, also large ones', async () => {
  await using listener = await echoing()
  const { link, texts } = heardBy(await dialFrames({ url: listener.url }))
  const sent = ['one', 'Grüße', 'x'.repeat(3_000_000), '{"a":1}']
  for (const text of sent) link.send(text)
  await expect.poll(() => texts).toEqual(sent)
  await link.drained()
  expect(link.bufferedBytes()).toBe(0)
  link.close()
  await expect.poll(() => listener.ends).toHaveLength(1)
})

test.each(['sock', 'a b', 'a:b', 'a?b', 'a#b', 'a%20b'])(
  'a socket file works the same and is for its owner alone: %s',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-frame-'))
    const socketPath = join(folder, name)
    {
      await using listener = await echoing({ socketPath })
      expect(listener.url).toBe(`unix:${socketPath}`)
      expect(statSync(socketPath).mode & 0o777).toBe(0o600)
      const { link, texts } = heardBy(await dialFrames({ url: listener.url }))
      link.send('hello')
      await expect.poll(() => texts).toEqual(['hello'])
    }
    rmSync(folder, { recursive: true })
  },
)

test('whoever does not show the token is refused, and so is a page of a browser, whatever it shows', async () => {
  await using listener = await echoing({ token: 'right' })
  for (const token of [undefined, 'wrong', 'righ', 'rightt']) {
    const options = { url: listener.url, ...(token === undefined ? {} : { token }) }
    await expect(dialFrames(options)).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
  }
  const headers = { authorization: 'Bearer right', origin: 'http://127.0.0.1' }
  const status = await new Promise((resolve) => {
    const socket = new WebSocket(listener.url, { headers })
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode))
    socket.on('error', () => undefined)
  })
  expect(status).toBe(403)
  const { link, texts } = heardBy(await dialFrames({ url: listener.url, token: 'right' }))
  link.send('in')
  await expect.poll(() => texts).toEqual(['in'])
})

test('it says that it is ready, and what it is to everything else', async () => {
  await using listener = await echoing({ token: 'right' })
  const http = listener.url.replace('ws', 'http')
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  expect((await fetch(http)).status).toBe(426)
  expect((await fetch(`${http}/readyz`, { method: 'POST' })).status).toBe(426)
})

test('no more links than its bound, and one more when one has gone', async () => {
  await using listener = await echoing({ limits: { links: 1 } })
  const first = heardBy(await dialFrames({ url: listener.url }))
  await expect(dialFrames({ url: listener.url })).rejects.toMatchObject({ code: 'http_status', status: 503 })
  first.link.close()
  await expect.poll(() => dialFrames({ url: listener.url }).then(heardBy, () => undefined)).toBeDefined()
})

test('whoever opens connections and says nothing, or not all of it, locks nobody out', async () => {
  await using listener = await echoing({ limits: { connections: 64 } })
  const { port } = new URL(listener.url)
  const kept = heardBy(await dialFrames({ url: listener.url }))
  const silent = Array.from({ length: 200 }, (_, at) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    if (at % 2 === 1) socket.write('GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\n')
    return socket.resume()
  })
  const open = (): number => silent.filter((socket) => !socket.closed).length
  await expect.poll(open).toBeLessThanOrEqual(63)
  const { link, texts } = heardBy(await dialFrames({ url: listener.url }))
  for (const each of [link, kept.link]) each.send('in')
  await expect.poll(() => [...texts, ...kept.texts]).toEqual(['in', 'in'])
  for (const socket of silent) socket.destroy()
})

test('a frame that is not text is passed over and told; one that is too long ends the link with words', async () => {
  await using listener = await echoing({ limits: { frameBytes: 100 } })
  const socket = new WebSocket(listener.url)
  await new Promise((resolve) => socket.once('open', resolve))
  const texts: string[] = []
  socket.on('message', (data: Buffer) => void texts.push(data.toString('utf8')))
  socket.send(Buffer.from([1, 2, 3]))
  socket.send('still here')
  await expect.poll(() => texts).toEqual(['still here'])
  expect(listener.faults).toEqual(['a frame is not text'])
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.send('x'.repeat(101))
  expect(await closed).toBe(1009)
  await expect.poll(() => listener.ends).toEqual(['Max payload size exceeded'])
})

test('a peer that does not read is cut when too much waits for it', async () => {
  await using listener = await echoing({ limits: { unsentBytes: 100_000 } })
  const socket = new WebSocket(listener.url)
  await new Promise((resolve) => socket.once('open', resolve))
  await expect.poll(() => listener.links).toHaveLength(1)
  socket.pause()
  for (let at = 0; listener.ends.length === 0 && at < 10_000; at += 1) {
    listener.links[0]?.send('x'.repeat(50_000))
    if (at % 16 === 0) await new Promise(setImmediate)
  }
  expect(listener.ends).toEqual(['the other side does not read'])
  socket.terminate()
})

test('a peer that answers no ping is cut', async () => {
  await using listener = await echoing({ limits: { pingMs: 20 } })
  const socket = new WebSocket(listener.url, { autoPong: false })
  await new Promise((resolve) => socket.once('open', resolve))
  await expect.poll(() => listener.ends).toEqual(['the other side does not answer pings'])
  const answering = heardBy(await dialFrames({ url: listener.url }))
  await new Promise((resolve) => setTimeout(resolve, 0))
  answering.link.send('here')
  await expect.poll(() => answering.texts).toEqual(['here'])
})

test('who cannot connect is told why, and a listener that ends says so', async () => {
  const listener = await echoing()
  const { ended } = heardBy(await dialFrames({ url: listener.url }))
  await listener.close()
  expect(await ended).toBe('the server ends')
  await expect(dialFrames({ url: listener.url })).rejects.toMatchObject({ code: 'unreachable' })
})
