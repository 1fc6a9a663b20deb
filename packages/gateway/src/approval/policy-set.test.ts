import { expect, test } from 'vitest'
import { openTestGateway } from '../fixture/test-gateway.ts'

const ASK_ALL = `[[rule]]
name = "all"
decision = "ask"
`
const example = (decision: string): string => `${ASK_ALL}
[[example]]
call = { mount = "files", tool = "write" }
decision = "${decision}"
`

test('the same text again is another version, and says so; one whose examples fail does not become active, and says which', async () => {
  await using gw = await openTestGateway()
  const { agent_id } = (await gw.admin('agent.create', { name: 'mine' })).structuredContent ?? {}
  const set = async (text: string) => (await gw.admin('policy.set', { agent_id, text })).structuredContent
  expect(await set(example('ask'))).toMatchObject({ version: 1, same_as: null })
  expect(await set(ASK_ALL)).toMatchObject({ version: 2, same_as: null })
  expect(await set(example('ask'))).toMatchObject({ version: 3, same_as: 1 })
  expect(await set(example('allow'))).toMatchObject({ version: 4, review: { examples: { failed: [{ example: 1 }] } } })
  const refused = await gw.admin('policy.activate', { agent_id, version: 4, digest: '0'.repeat(64) })
  expect(refused._meta?.['parley/error']).toMatchObject({
    message: 'version: 1 of its examples is decided otherwise than written: example 1 wants allow and is ask by the rule all',
  })
})
