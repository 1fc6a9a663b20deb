import { randomBytes } from 'node:crypto'
import { openSealer } from '@parley/models'
import { AgentId, MountSettings, ServerSpec } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openedMount, sealedMount } from './mount-secrets.ts'

const ID = AgentId.parse(`agt_${'a'.repeat(26)}`)
const OTHER = AgentId.parse(`agt_${'b'.repeat(26)}`)
const sealer = openSealer(new Uint8Array(32).fill(1), randomBytes)
const options = MountSettings.parse({})

test.for([
  { kind: 'stdio', command: 'npx', args: ['-y', 'server'], env: [{ name: 'TOKEN', value: 'hunter2' }] },
  { kind: 'http', url: 'https://u:hunter2@example.com/mcp?key=hunter2', headers: [{ name: 'X-Key', value: 'hunter2' }] },
])('what is kept and shown of %j holds no secret, and opens again for its agent and name alone', (given) => {
  const server = ServerSpec.parse(given)
  const kept = sealedMount(sealer, ID, { name: 'files', server, options })
  expect(JSON.stringify(kept)).not.toContain('hunter2')
  expect(kept.shown).toContain('TOKEN' in given ? 'TOKEN' : server.kind)
  expect(openedMount(sealer, ID, kept)).toEqual(server)
  expect(() => openedMount(sealer, OTHER, kept)).toThrow('cannot be opened')
  expect(() => openedMount(sealer, ID, { ...kept, name: 'other' })).toThrow('cannot be opened')
})
