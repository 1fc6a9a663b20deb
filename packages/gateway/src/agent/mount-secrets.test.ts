import { randomBytes } from 'node:crypto'
import { openSealer } from '@parley/models'
import { AgentId, MountSettings, ServerSpec } from '@parley/protocol'
import { expect, test } from 'vitest'
import { keptSignIn, openedMount, sealedMount } from './mount-secrets.ts'

const ID = AgentId.parse(`agt_${'a'.repeat(26)}`)
const OTHER = AgentId.parse(`agt_${'b'.repeat(26)}`)
const sealer = openSealer(new Uint8Array(32).fill(1), randomBytes)
const options = MountSettings.parse({})

test.for([
  { kind: 'stdio', command: 'npx', args: ['-y', 'server'], env: [{ name: 'TOKEN', value: 'hunter2' }] },
  { kind: 'http', url: 'https://hunter2@example.com/mcp' },
  { kind: 'http', url: 'https://u:hunter2@example.com/mcp?key=hunter2', headers: [{ name: 'X-Key', value: 'hunter2' }] },
])('what is kept and shown of %j holds no secret, and opens again for its agent and name alone', (given) => {
  const server = ServerSpec.parse(given)
  const kept = sealedMount(sealer, ID, { name: 'files', server, options, signIn: null })
  expect(JSON.stringify(kept)).not.toContain('hunter2')
  expect(kept.shown).toContain('TOKEN' in given ? 'TOKEN' : server.kind)
  expect(openedMount(sealer, ID, kept)).toEqual({ server, signIn: null })
  expect(() => openedMount(sealer, OTHER, kept)).toThrow('cannot be opened')
  expect(() => openedMount(sealer, ID, { ...kept, name: 'other' })).toThrow('cannot be opened')
})

test('a sign-in is kept with its mount, for that server alone, and nothing of it is shown', () => {
  const server = ServerSpec.parse({ kind: 'http', url: 'https://example.com/mcp' })
  const signIn = {
    access_token: 'hunter2',
    refresh_token: 'hunter2',
    expires_at: null,
    scope: null,
    client_id: 'hunter2',
    client_secret: 'hunter2',
    issuer: 'https://example.com',
    token_endpoint: null,
    resource: 'https://example.com/mcp',
  }
  const kept = sealedMount(sealer, ID, { name: 'far', server, options, signIn })
  expect(JSON.stringify(kept)).not.toContain('hunter2')
  expect(openedMount(sealer, ID, kept)).toEqual({ server, signIn })
  expect(keptSignIn(sealer, ID, kept, ServerSpec.parse({ ...server, headers: [{ name: 'X', value: 'y' }] }))).toEqual(signIn)
  expect(keptSignIn(sealer, ID, kept, ServerSpec.parse({ ...server, url: 'https://example.com/other' }))).toBeNull()
  expect(keptSignIn(sealer, OTHER, kept, server)).toBeNull()
  // As one was sealed before there were sign-ins.
  const old = sealer.seal(`mount/${ID}/far`, JSON.stringify(server))
  expect(openedMount(sealer, ID, { name: 'far', sealed: old })).toEqual({ server, signIn: null })
})
