import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { Denied } from '../door.ts'
import { openHttpServer } from '../http/server.ts'
import type { ListenAt } from '../http/server-options.ts'
import type { Caller } from '../service.ts'
import { dialFrames } from '../frame/dial-frames.ts'
import type { FrameLink } from '../frame/frame-link.ts'
import { joinEnds, TUNNEL_PIECE_BYTES, type TunnelEnd } from './tunnel-end.ts'
import type { Knock } from './tunnel-endpoint.ts'

/** Joins the two who come for the same name. */
async function openMeeting(listen: ListenAt = { host: '127.0.0.1', port: 0 }, keepAliveMs = 60_000) {
  const waiting = new Map<string, TunnelEnd>()
  const ends: { bytes: number; reason: string }[] = []
  const meet = async ({ query }: Knock<Caller>) => {
    const name = query.get('name')
    if (name === null) throw new Denied(404, 'not_found', 'there is no such place')
    return (end: TunnelEnd): void => {
      const first = waiting.get(name)
      if (first === undefined) return void waiting.set(name, end)
      waiting.delete(name)
      void joinEnds(first, end).then((end) => ends.push(end))
    }
  }
  const server = await openHttpServer<Caller>({
    listen,
    door: {
      authenticate: ({ authorization }) => {
        if (authorization === undefined) throw new Denied(401, 'missing_authorization', 'who are you?')
        return { key: authorization.slice('Bearer '.length) }
      },
      serviceFor: () => {
        throw new Error('nobody speaks MCP here')
      },
    },
    stateKey: randomBytes(32),
    tunnel: { path: '/tunnel', meet },
    limits: { linksPerCaller: 3, keepAliveMs },
  })
  const url = `${server.url.replace('http', 'ws')}/tunnel`
  const dial = (name: string, token = 'ann'): Promise<FrameLink> => {
    const path = `/tunnel?name=${name}`
    const where = 'port' in listen ? { url: `${url}?name=${name}` } : { url: `unix:${listen.socketPath}`, path }
    return dialFrames({ ...where, token, limits: { pieceBytes: TUNNEL_PIECE_BYTES } })
  }
  return { server, url, dial, ends, [Symbol.asyncDispose]: () => server.close(0) }
}

function heardBy(link: FrameLink) {
  const texts: string[] = []
  const over = Promise.withResolvers<string>()
  link.open({ text: (text) => void texts.push(text), fault: (fault) => void texts.push(`fault: ${fault}`), ended: over.resolve })
  return { link, texts, ended: over.promise }
}

test('texts pass both ways, whole and in order, also such as are much larger than a message may be', async () => {
  await using meeting = await openMeeting()
  const [one, other] = [heardBy(await meeting.dial('a')), heardBy(await meeting.dial('a', 'bob'))]
  const sent = ['first', 'Grüße', 'x'.repeat(5 * TUNNEL_PIECE_BYTES + 1), '{}']
  for (const text of sent) one.link.send(text)
  other.link.send('back')
  await expect.poll(() => other.texts).toEqual(sent)
  await expect.poll(() => one.texts).toEqual(['back'])
  one.link.close()
  await other.ended
  await expect.poll(() => meeting.ends.length).toBe(1)
  expect(meeting.ends[0]?.bytes).toBeGreaterThan(5 * TUNNEL_PIECE_BYTES)
  await expect.poll(() => meeting.server.links()).toBe(0)
})

test('an end that does not read stops the other one, and nothing piles up between them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tunnel-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // On a socket file the kernel holds little, so that what is held in between shows.
  const socketPath = join(folder, 'sock')
  await using meeting = await openMeeting({ socketPath })
  const slow = new WebSocket(`ws+unix:${socketPath}:/tunnel?name=a`, { headers: { authorization: 'Bearer bob' } })
  await once(slow, 'open')
  slow.pause()
  const { link } = heardBy(await meeting.dial('a'))
  const total = 400
  const piece = 'x'.repeat(TUNNEL_PIECE_BYTES)
  for (let sent = 0; sent < total; sent += 1) link.send(piece)
  // All of them live in this process: when nothing moved for many turns of its loop, nothing can move any more.
  for (let turns = 0, before = -1; turns < 500; turns += 1) {
    if (link.bufferedBytes() !== before) turns = 0
    before = link.bufferedBytes()
    await setImmediate()
  }
  expect(total * TUNNEL_PIECE_BYTES - link.bufferedBytes()).toBeLessThan(4 * 1024 * 1024)
  let got = 0
  slow.on('message', () => (got += 1))
  slow.resume()
  await expect.poll(() => got).toBe(total)
  slow.close()
})

test('a message that is too large ends the tunnel, and a refusal says why', async () => {
  await using meeting = await openMeeting()
  const rude = new WebSocket(`${meeting.url}?name=a`, { headers: { authorization: 'Bearer bob' } })
  await once(rude, 'open')
  const { ended } = heardBy(await meeting.dial('a'))
  rude.send(Buffer.alloc(TUNNEL_PIECE_BYTES + 2))
  const [code] = await once(rude, 'close')
  expect(code).toBe(1009)
  await ended
  const nowhere = dialFrames({ url: meeting.url, token: 'ann' })
  await expect(nowhere).rejects.toMatchObject({
    code: 'http_status',
    message: expect.stringContaining('there is no such place'),
    status: 404,
  })
  await expect(dialFrames({ url: `${meeting.url}?name=a` })).rejects.toMatchObject({ code: 'unauthorized' })
  await expect(dialFrames({ url: `${meeting.url}?name=a&token=ann` })).rejects.toMatchObject({ code: 'unauthorized' })
  const page = dialFrames({ url: `${meeting.url}?name=a`, token: 'ann', headers: { origin: 'http://127.0.0.1' } })
  await expect(page).rejects.toMatchObject({ message: expect.stringContaining('a page may not open a tunnel') })
})

test('an end counts as a connection of its caller, ends with their token, and so does the other end', async () => {
  await using meeting = await openMeeting()
  const mine = [await meeting.dial('a'), await meeting.dial('b'), await meeting.dial('c')].map(heardBy)
  await expect(meeting.dial('d')).rejects.toMatchObject({ status: 429 })
  const other = heardBy(await meeting.dial('a', 'bob'))
  expect(meeting.server.cut(({ key }) => key === 'ann', 'revoked_token')).toBe(3)
  expect(await Promise.all(mine.map(({ ended }) => ended))).toEqual(Array(3).fill('revoked_token'))
  await other.ended
  await expect.poll(() => meeting.server.links()).toBe(0)
})

test('whoever is cut cannot say another word, whether or not they go', async () => {
  await using meeting = await openMeeting()
  const stubborn = new WebSocket(`${meeting.url}?name=a`, { headers: { authorization: 'Bearer ann' } })
  await once(stubborn, 'open')
  const other = heardBy(await meeting.dial('a', 'bob'))
  const say = (): void => stubborn.send(Buffer.from('\0word'))
  say()
  await expect.poll(() => other.texts).toEqual(['word'])
  // It goes on talking in spite of the close.
  stubborn.removeAllListeners('close')
  const gone = once(stubborn, 'close')
  const talking = setInterval(() => {
    if (stubborn.readyState === WebSocket.OPEN) say()
  }, 1)
  meeting.server.cut(({ key }) => key === 'ann', 'revoked_token')
  const heard = other.texts.length
  await other.ended
  await gone
  clearInterval(talking)
  expect(other.texts).toHaveLength(heard)
})

test('an empty message, which no end of ours sends, ends the tunnel', async () => {
  await using meeting = await openMeeting()
  const odd = new WebSocket(`${meeting.url}?name=a`, { headers: { authorization: 'Bearer bob' } })
  await once(odd, 'open')
  const { ended } = heardBy(await meeting.dial('a'))
  odd.send(Buffer.alloc(0))
  expect(String((await once(odd, 'close'))[1])).toBe('a message is empty')
  await ended
})

test('an end whose machine went away without a word is found out, and the other one is told', async () => {
  await using meeting = await openMeeting(undefined, 100)
  const deaf = new WebSocket(`${meeting.url}?name=a`, { headers: { authorization: 'Bearer bob' }, autoPong: false })
  await once(deaf, 'open')
  const { ended } = heardBy(await meeting.dial('a'))
  await ended
})

test('closing the server ends tunnels', async () => {
  const meeting = await openMeeting()
  const [one, other] = [heardBy(await meeting.dial('a')), heardBy(await meeting.dial('a', 'bob'))]
  await meeting.server.close(1_000)
  await Promise.all([one.ended, other.ended])
})
