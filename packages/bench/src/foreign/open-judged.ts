import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { Installation } from '../jobs/installation.ts'
import { outputOf } from '../measure/output-of.ts'
import { plainUser } from './seed-user.ts'

const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))
const ADA = { username: 'ada', password: 'password-123' }
/** Longer than any restart of a gateway takes on a crowded machine. */
const LEASE_MS = 30_000
const SignedIn = z.object({ access_token: z.string(), token_type: z.literal('Bearer') })
const Minted = z.object({ token: z.string() })

/** An installation at work, as somebody finds it who has an account and a client of their own. */
export interface Judged extends AsyncDisposable {
  readonly installation: Installation
  readonly mcp: string
  readonly ws: string
  /** Of one person: a sign-in, as a page has it, and a personal token. */
  readonly jwt: string
  readonly token: string
  readonly adminToken: string
}

export async function openJudged(slots: number): Promise<Judged> {
  const installation = await Installation.open({ leaseMs: LEASE_MS })
  try {
    const data = join(installation.folder, 'data')
    const args = ['token', 'create', '--role', 'user', '--user', 'admin', '--json', '--data', data]
    const { token: adminToken } = Minted.parse(JSON.parse(await outputOf(process.execPath, [LAUNCHER, ...args])))
    const ws = `${installation.url.replace(/^http/, 'ws')}/api/mcp/ws`
    await using admin = await plainUser(ws, adminToken)
    await admin.call('user.add', ADA)
    const { token } = Minted.parse(await admin.call('token.create', { role: 'user', username: 'ada' }))
    if (slots > 0) await installation.startJudge(slots)
    return {
      installation,
      mcp: `${installation.url}/mcp`,
      ws,
      jwt: await signIn(installation.url),
      token,
      adminToken,
      [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
    }
  } catch (error) {
    await installation[Symbol.asyncDispose]()
    throw error
  }
}

/** The one thing that is not MCP: a name and a password for a token. */
async function signIn(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify(ADA) })
  return SignedIn.parse(await response.json()).access_token
}
