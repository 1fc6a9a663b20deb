import { once } from 'node:events'
import { WebSocket } from 'ws'
import { type AttackWorld, HalfRequest, callOf, tried } from './attack-world.ts'
import { send } from './http-post.ts'
import { memoryOf } from './memory.ts'
import { ACCEPT, LEGACY } from './modern-call.ts'

const MIB = 1024 * 1024
/** What a gateway may take more than before while bodies are under way that nobody finishes. */
const BODIES_GROWTH_BYTES = 320 * MIB

export interface Attack {
  readonly name: string
  run(world: AttackWorld): Promise<void>
}

/** The body comes after the token was revoked: nothing is done any more. */
const revokedBody: Attack = {
  name: 'revoked before the body',
  async run(world) {
    const { id, token } = await world.evesToken()
    const body = JSON.stringify(callOf('blob.begin', {}))
    const cut = world.random.between(0, body.length - 1)
    using half = await HalfRequest.open(world, token, { name: 'blob.begin', bytes: body.length })
    await half.write(body.slice(0, cut))
    await world.admin('token.revoke', { id })
    await half.write(body.slice(cut))
    const status = await half.status()
    world.tally.expect(
      status === 401 || status === 0,
      `a body that came after the revocation was answered ${status ?? 'never'}: ${half.heard.slice(-200)}`,
    )
    world.tally.expect(!half.heard.includes('upl_'), 'an upload was begun with a token that was revoked')
  },
}

/** Large bodies that are never finished: they are refused beyond a bound, and others are served. */
const unfinishedBodies: Attack = {
  name: 'bodies that are never finished',
  async run(world) {
    const { token } = await world.evesToken()
    const before = await memoryOf(world.agent, world.gateway)
    const bytes = 4 * MIB
    const piece = Buffer.alloc(bytes - 1, ' ')
    const halves = await Promise.all(
      Array.from({ length: world.many(120) }, () => HalfRequest.open(world, token, { name: 'echo', bytes })),
    )
    try {
      await Promise.all(halves.map((half) => half.write(piece)))
      const { rss_bytes } = await memoryOf(world.agent, world.gateway)
      world.tally.expect(
        rss_bytes - before.rss_bytes < BODIES_GROWTH_BYTES,
        `${halves.length} unfinished bodies took ${Math.round((rss_bytes - before.rss_bytes) / MIB)} MiB`,
      )
      world.tally.expect(await world.isServed(world.ann), 'ann is not served beside unfinished bodies')
    } finally {
      for (const half of halves) half[Symbol.dispose]()
    }
  },
}

/** Sessions by many tokens of one person: others still get in. */
const sessionsOfOne: Attack = {
  name: 'sessions of one person',
  async run(world) {
    const tokens = await Promise.all(Array.from({ length: 6 }, () => world.evesToken()))
    const opened = await Promise.all(
      Array.from({ length: world.many(3_000) }, (_, index) => session(world, tokens[index % tokens.length]?.token ?? '')),
    )
    world.tally.count('sessions of eve', opened.filter((status) => status === 200).length)
    for (const [who, token] of [
      ['ann', world.ann],
      ['the admin', world.gateway.token],
      ['a judge', world.gateway.judgeToken],
    ] as const)
      world.tally.expect((await session(world, token)) === 200, `${who} gets no session beside those of eve`)
    for (const { id } of tokens) await world.admin('token.revoke', { id })
  },
}

async function session({ agent, gateway }: AttackWorld, token: string): Promise<number> {
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'attack', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const headers = { 'content-type': 'application/json', accept: ACCEPT, authorization: `Bearer ${token}` }
  return (await send(agent, gateway.mcp, 'POST', headers, body).catch(() => ({ status: 0 }))).status
}

/** Pings as fast as they go, as frames and as messages: whoever works is answered before they are. */
const pings: Attack = {
  name: 'pings',
  async run(world) {
    const { token } = await world.evesToken()
    const socket = new WebSocket(world.gateway.ws, { headers: { authorization: `Bearer ${token}` } })
    await once(socket, 'open')
    socket.on('error', () => undefined)
    let [answered, closed] = [0, false]
    socket.on('message', () => (answered += 1))
    socket.on('pong', () => (answered += 1))
    socket.on('close', () => (closed = true))
    const count = world.many(50_000)
    for (let index = 0; index < count && socket.readyState === WebSocket.OPEN; index += 1)
      if (world.random.next() < 0.5) socket.ping()
      else socket.send(`{"jsonrpc":"2.0","id":${index},"method":"ping"}`)
    const served = await world.isServed(world.ann)
    world.tally.expect(served, 'ann is not served beside pings')
    world.tally.expect(closed || answered < count || count < 1_000, 'all pings were answered before one call of ann')
    socket.terminate()
  },
}

/** What is ann's is not there for eve, and what is for another role is not there at all. */
const foreign: Attack = {
  name: 'foreign ids and roles',
  async run(world) {
    const { token } = await world.evesToken()
    const begun = await tried(world, world.ann, 'blob.begin', {})
    const upload = /upl_[a-z0-9]+/.exec(begun.text)?.[0] ?? ''
    world.tally.expect(upload !== '', `ann begins no upload: ${begun.text.slice(0, 200)}`)
    for (const [who, by, name, args] of [
      ['eve', token, 'blob.write', { upload_id: upload, offset: 0, chunk_b64: '' }],
      ['eve', token, 'blob.abort', { upload_id: upload }],
      ['eve', token, 'token.create', { role: 'judge', name: 'x' }],
      ['eve', token, 'user.list', {}],
      ['eve', token, 'judge.claim_next', { machine_id: 'm', wait_ms: 0 }],
      ['a judge', world.gateway.judgeToken, 'blob.begin', {}],
      ['a judge', world.gateway.judgeToken, 'token.create', { role: 'user', username: 'admin', name: 'x' }],
    ] as const) {
      const { isDone, text } = await tried(world, by, name, args)
      world.tally.expect(!isDone, `${name} was done for ${who}: ${text.slice(0, 200)}`)
    }
    world.tally.expect((await tried(world, world.ann, 'blob.abort', { upload_id: upload })).isDone, 'ann cannot end her upload')
  },
}

/** Guesses at one account, hidden among names that are nobody's: the account is still guarded. */
const guesses: Attack = {
  name: 'guesses among made-up names',
  async run(world) {
    const guess = async (username: string) =>
      (
        await send(
          world.agent,
          `${world.gateway.url}/api/auth/login`,
          'POST',
          { 'content-type': 'application/json' },
          JSON.stringify({ username, password: `wrong-${world.random.between(0, 1e9)}` }),
        ).catch(() => ({ status: 0 }))
      ).status
    const statuses: number[] = []
    for (let index = 0; index < world.many(400); index += 1) {
      await guess(`nobody-${world.random.between(0, 1e9)}`)
      statuses.push(await guess('ann'))
    }
    world.tally.count('guesses', statuses.length)
    world.tally.expect(!statuses.includes(200), 'a guess was taken')
    const tried401 = statuses.filter((status) => status === 401).length
    world.tally.expect(tried401 <= 20, `${tried401} guesses at one account were looked at`)
  },
}

/** Uploads that are begun, filled and given up at once leave nothing behind. */
const uploads: Attack = {
  name: 'uploads given up',
  async run(world) {
    const { token } = await world.evesToken()
    const chunk = Buffer.alloc(256 * 1024, world.random.between(1, 255)).toString('base64')
    await Promise.all(
      Array.from({ length: world.many(200) }, async () => {
        const begun = await tried(world, token, 'blob.begin', {})
        const upload = /upl_[a-z0-9]+/.exec(begun.text)?.[0]
        if (upload === undefined) return
        await tried(world, token, 'blob.write', { upload_id: upload, offset: 0, chunk_b64: chunk })
        const ended = await Promise.all([1, 2].map(() => tried(world, token, 'blob.abort', { upload_id: upload })))
        world.tally.expect(ended.filter(({ isDone }) => isDone).length === 1, 'an upload was ended twice, or not at all')
        world.tally.count('uploads given up')
      }),
    )
    const { text } = await tried(world, token, 'blob.begin', { bytes: 1_900 * MIB })
    world.tally.expect(text.includes('upl_'), `what was given up still counts: ${text.slice(0, 200)}`)
  },
}

export const ATTACKS: readonly Attack[] = [revokedBody, unfinishedBodies, sessionsOfOne, pings, foreign, guesses, uploads]
