import type { JobId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { JobSocket, until } from '../../fixture/job-socket.ts'
import { PlayedJudge, addJob, addUser, statusLine } from '../../fixture/test-job.ts'
import { openTestGateway } from '../../fixture/test-gateway.ts'

/** Repeatable: the same seed gives the same cuts. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

interface Seen {
  terminal: Buffer[]
  items: string[]
  terminalOffset: number
  statusOffset: number
  ended: boolean
}

/** Follows until the socket is cut after some notifications, or the end comes; what was heard last is where the next goes on. */
async function followOnce(socket: JobSocket, id: JobId, seen: Seen, stopAfter: number): Promise<void> {
  await socket.subscribe(id, {
    streams: ['agent_status', 'terminal', 'state'],
    agent_status_offset: seen.statusOffset,
    terminal_offset: seen.terminalOffset,
  })
  const isEnd = (status: string) => status === 'succeeded'
  await until(() => socket.told().length >= stopAfter || socket.statuses().some(isEnd))
  socket.close()
  for (const { method, params } of socket.told()) {
    const offset = Number(params['offset'])
    if (method === 'terminal') {
      seen.terminal.push(Buffer.from(String(params['chunk_b64']), 'base64'))
      seen.terminalOffset = offset
    } else if (method === 'agent_status') {
      seen.items.push((params['item'] as { seq: string }).seq)
      seen.statusOffset = offset
    } else seen.ended = socket.statuses().some(isEnd)
  }
}

test.each([1, 2, 3])(
  'readers that are cut at random and come back miss nothing and hear nothing twice (seed %i)',
  async (seed) => {
    await using gw = await openTestGateway()
    const random = randomFrom(seed)
    const ada = await addUser(gw, 'ada')
    const id = await addJob(gw.store, ada.id)
    const judge = await PlayedJudge.take(gw.store, id)
    const lines = Array.from({ length: 400 }, (_, n) => statusLine(id, n, 'ä'.repeat(random(60))))
    const status = Buffer.from(lines.join(''))
    const terminal = Buffer.from(Array.from({ length: 30_000 }, () => random(256)))

    const write = async (log: 'agent_status' | 'terminal', bytes: Buffer) => {
      for (let at = 0; at < bytes.length;) {
        const size = 1 + random(log === 'terminal' ? 900 : 1_500)
        await judge.append(log, bytes.subarray(at, at + size))
        at += size
        if (random(4) === 0) await new Promise((resolve) => setTimeout(resolve, random(3)))
      }
    }
    const read = async (): Promise<Seen> => {
      const seen: Seen = { terminal: [], items: [], terminalOffset: 0, statusOffset: 0, ended: false }
      while (!seen.ended) await followOnce(await JobSocket.open(gw.gateway.ws, ada.token), id, seen, 1 + random(60))
      return seen
    }
    const readers = [read(), read(), read()]
    await Promise.all([write('agent_status', status), write('terminal', terminal)])
    await judge.end()
    for (const seen of await Promise.all(readers)) {
      expect(Buffer.concat(seen.terminal).equals(terminal)).toBe(true)
      expect(seen.items).toEqual(lines.map((_, n) => `s-${n}`))
      expect([seen.terminalOffset, seen.statusOffset]).toEqual([terminal.length, status.length])
    }
  },
)
