import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogger, openGateway, openLocalAdmin } from '@parley/gateway'
import { openStore } from '@parley/store'
import { countTopics } from './counted-topics.ts'
import { WireLimits } from './limits.ts'
import { accountTouch, echo, logAppend, logRead, memoryTool, passTool } from './tools.ts'

/**
 * A real gateway with a few tools for measuring: audit, limits, metrics and logs as in the product. Prints one JSON line
 * `{url, mcp, ws, token, judge_token}` when it serves; with `--keep-tokens` no new tokens are made.
 */
const GRACE_MS = 1_000
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    database: { type: 'string' },
    port: { type: 'string' },
    'keep-tokens': { type: 'boolean' },
    'allows-calls': { type: 'boolean' },
    // Bounds of the wires that differ from the product's, as JSON.
    limits: { type: 'string' },
  },
})
const data = values.data ?? ''
if (data === '') throw new Error('say --data DIR')
await mkdir(data, { recursive: true })

const log = createLogger({ level: 'info', destination: createWriteStream(join(data, 'gateway.log'), { flags: 'a' }) })
const opened = await openStore({ url: values.database ?? `sqlite:${join(data, 'parley.db')}` })
const { store, subscriptions } = countTopics(opened)
let passedMs = 0
const now = (): number => Date.now() + passedMs
const gateway = await openGateway({
  store,
  // The same at every start on the same data: a gateway with another secret refuses its database.
  secret: new Uint8Array(32).fill(9),
  listen: { host: '127.0.0.1', port: Number(values.port ?? 0) },
  signup: false,
  queryToken: true,
  firstAdmin: { username: 'admin', password: randomBytes(18).toString('hex') },
  log,
  now,
  random: randomBytes,
  version: '0.0.0-bench',
  gate: values['allows-calls'] === true ? 'allow' : 'deny',
  // The meters run, at a rate that one token at full speed does not reach.
  limits: { calls: { perSecond: 1_000_000, burst: 1_000_000 }, wire: WireLimits.parse(JSON.parse(values.limits ?? '{}')) },
  tools: [
    echo,
    logAppend,
    logRead,
    accountTouch,
    passTool((ms) => {
      passedMs += ms
    }),
    memoryTool(() => ({ sessions: gateway.sessions(), subscriptions: subscriptions() })),
  ],
})
const { url, mcp, ws } = gateway
process.stdout.write(`${JSON.stringify({ url, mcp, ws, ...(values['keep-tokens'] === true ? {} : await mint()) })}\n`)

let closing = false
process.on('SIGTERM', () => {
  if (closing) return
  closing = true
  void gateway
    .close(GRACE_MS)
    .then(() => opened.close())
    .then(() => process.exit(0))
})

async function mint(): Promise<{ token: string; judge_token: string }> {
  const admin = openLocalAdmin({ store, baseUrl: url, log, now, random: randomBytes })
  const user = await admin.call('token.create', { role: 'user', username: 'admin', name: 'bench' })
  const judge = await admin.call('token.create', { role: 'judge', name: `bench-${randomBytes(4).toString('hex')}` })
  await admin.close()
  return { token: user.token, judge_token: judge.token }
}
