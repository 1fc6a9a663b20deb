import { setTimeout as sleep } from 'node:timers/promises'
import { type HeldScopes, TOOLS, type ToolOutput, isJsonObject, scopesFor } from '@parley/protocol'
import { type Client, WireError, connectClient, httpTransport } from '@parley/rpc'
import { asCommandError, splitAdvice } from '@parley/command-line/wording'
import type { Target } from '../option/target.ts'
import { ownVersion } from '../version.ts'
import { type DoctorCheck, reasonOf } from './doctor-check.ts'
import { MOUNTS_URI, mountsCheck } from './mounts-check.ts'

const UPDATE_WAIT_MS = 5_000
const PROBE_TTL_SECONDS = 60
const PROBE_NAME = 'doctor'
const MODELS_SHOWN = 8
const MODELS_SCOPES = scopesFor(TOOLS['models.list'], true).join(' or ')

const WAYS_OUT = {
  noHeader: 'give a token by --token-file or PARLEY_TOKEN',
  token: 'make a new one: parley token create --role user --user NAME',
  reach: 'check the URL, that the gateway runs, and what stands between',
}

/** Walks one connection, step by step, and stops at the first that fails: header, token, role, server, subscribe, update, re-read, then models, or the mounts of an agent. */
export async function walk(target: Target): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = []
  const ok = (name: string, detail: string): void => void checks.push({ name, status: 'ok', detail })
  const fail = (name: string, detail: string, hint: string): DoctorCheck[] => [
    ...checks,
    { name, status: 'failed', detail, hint },
  ]

  if (target.token === undefined)
    return fail('header', 'there is no token, so no Authorization header can be sent', WAYS_OUT.noHeader)
  if (!/^[\x21-\x7e]+$/.test(target.token))
    return fail(
      'header',
      'the token holds spaces or characters that no header may hold',
      'copy it again, without spaces and line ends',
    )
  ok('header', `Authorization: Bearer ${target.token.slice(0, 4)}…`)

  let client: Client
  try {
    client = await connectClient(httpTransport({ url: target.url, token: target.token }), {
      clientInfo: { name: 'parley-doctor', version: ownVersion() },
    })
  } catch (error) {
    if (error instanceof WireError && error.code === 'unauthorized')
      return fail('token', asCommandError(error).message, WAYS_OUT.token)
    if (error instanceof WireError && error.code === 'unreachable') {
      const { what, advice = WAYS_OUT.reach } = splitAdvice(error.message)
      return fail('server', what, advice)
    }
    return fail('server', `no MCP server answers there: ${reasonOf(error)}`, WAYS_OUT.reach)
  }
  try {
    ok('token', 'accepted')
    return await walkInside(client, checks)
  } finally {
    await client.close()
  }
}

async function walkInside(client: Client, checks: DoctorCheck[]): Promise<DoctorCheck[]> {
  let step = 'role'
  const ok = (detail: string): void => void checks.push({ name: step, status: 'ok', detail })
  try {
    const { role, isAdmin, tools, scopes } = await whoAmI(client)
    const limits = scopes === null ? '' : `, with the scopes ${scopes.join(', ')}`
    ok(`${isAdmin ? `${role} (an admin)` : (role ?? 'a server that knows no roles')}${limits}`)
    step = 'server'
    const { info } = client.server
    ok(`${info.name} ${info.version}, ${client.era} era (${client.revision}), ${tools.length} tools`)
    if (role === undefined)
      return [...checks, { name: 'subscribe', status: 'skipped', detail: 'this is no gateway of ours: the walk ends here' }]
    step = 'subscribe'
    // What a token with scopes makes must be less than itself, and a judge's is not: the change is left to others.
    const canChange = isAdmin && scopes === null
    const uri = canChange ? 'resource://tokens/list' : role === 'agent' ? MOUNTS_URI : 'resource://account'
    const heard = { updates: 0 }
    const unsubscribe = await client.subscribe(uri, () => {
      heard.updates += 1
    })
    ok(uri)
    step = 'update'
    if (!canChange) {
      checks.push({
        name: step,
        status: 'skipped',
        detail: `nothing that this token may do changes a resource; an admin’s${scopes === null ? '' : ' without scopes'} can walk on`,
      })
      step = 're-read'
      const content = await client.readResource(uri)
      ok(uri)
      if (role === 'agent') checks.push(mountsCheck(content))
    } else {
      const before = heard.updates
      const { id } = await client.callTool('token.create', { role: 'judge', name: PROBE_NAME, ttl_seconds: PROBE_TTL_SECONDS })
      await client.callTool('token.revoke', { id })
      for (let waited = 0; heard.updates === before && waited < UPDATE_WAIT_MS; waited += 20) await sleep(20)
      if (heard.updates === before)
        throw new Error(`no notification came in ${UPDATE_WAIT_MS / 1000} s: something between cuts or buffers streams`)
      ok('a change was told')
      step = 're-read'
      const text = JSON.stringify(await client.readResource(uri))
      if (!text.includes(id)) throw new Error('the change is not in what was read')
      ok('the change is in it')
    }
    await unsubscribe()
    step = 'models'
    if (hasTool(tools, 'models.list')) checks.push(modelsCheck(await client.callTool('models.list', { live: true })))
    else if (scopes !== null)
      checks.push({
        name: step,
        status: 'skipped',
        detail: `models.list needs the scope ${MODELS_SCOPES}, which this token lacks`,
      })
    return checks
  } catch (error) {
    return [
      ...checks,
      { name: step, status: 'failed', detail: reasonOf(error), hint: 'look at the log of the gateway at this time' },
    ]
  }
}

/** Which models there are, and which channels do not answer. None at all is fine for who has code judged as it is. */
function modelsCheck({ items, channels }: ToolOutput<'models.list'>): DoctorCheck {
  const name = 'models'
  const faults = channels.filter(({ ok }) => !ok).map(({ channel, error }) => `${channel} (${error ?? 'no answer'})`)
  const shown = items.slice(0, MODELS_SHOWN).map(({ model, script }) => (script ? `${model} (a script)` : model))
  const found = items.length === 0 ? 'none' : `${items.length}: ${shown.join(', ')}${items.length > MODELS_SHOWN ? ', …' : ''}`
  if (faults.length > 0)
    return {
      name,
      status: 'failed',
      detail: `${found}; no answer from ${faults.join(', ')}`,
      hint: 'parley channel list shows them',
    }
  if (items.length > 0) return { name, status: 'ok', detail: found }
  return { name, status: 'missing', detail: 'there is none, so nobody writes solutions', hint: 'parley channel set --help' }
}

const hasTool = (tools: readonly unknown[], name: string): boolean =>
  tools.some((tool) => isJsonObject(tool) && tool['name'] === name)

/** The role by the server's own word, and by the tool where there is one. */
async function whoAmI(
  client: Client,
): Promise<{ role: string | undefined; isAdmin: boolean; scopes: HeldScopes; tools: readonly unknown[] }> {
  const tools = await client.listTools()
  if (hasTool(tools, 'account.get')) {
    const { role, admin, scopes } = await client.callTool('account.get', {})
    return { role, isAdmin: admin, scopes, tools }
  }
  const { role } = client.server.info
  return { role: typeof role === 'string' ? role : undefined, isAdmin: false, scopes: null, tools }
}
