import { isJsonObject, type JsonObject } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { expect, test } from 'vitest'
import { AgentBench } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

test(
  'people and an agent talk through its compositor, and all of it is there after the host was killed',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const first = await bench.host('one')
    const agent_id = await bench.agent('mine', {})
    const client = await bench.as(agent_id)
    const { message } = await bench.gateway.call('chat.post', { agent_id, text: 'are you there?' })
    await expect.poll(() => chatOf(client, { after: 0 }), { timeout: 60_000 }).toMatchObject({ messages: [message], head: 1 })

    // The agent waits for the next one, and answers.
    const next = chatOf(client, { after: 1, wait_ms: 30_000 })
    await bench.gateway.call('chat.post', { agent_id, text: 'hello?' })
    expect(await next).toMatchObject({ messages: [{ id: 2, text: 'hello?', from: 'person' }] })
    expect(await own(client, 'chat_post', { text: 'yes' })).toMatchObject({ message: { id: 3, from: 'agent', by: 'mine' } })
    expect(await bench.gateway.call('chat.read_since', { agent_id, after: 2 })).toMatchObject({
      messages: [{ id: 3, text: 'yes', from: 'agent', by: 'mine' }],
      head: 3,
    })

    first.kill('SIGKILL')
    await first.exited
    await bench.host('two')
    await expect.poll(() => chatOf(client, { after: 1 }), { timeout: 60_000 }).toMatchObject({ last_id: 3, head: 3 })
    expect(await own(client, 'chat_post', { text: '' })).toMatchObject({ isError: true })
  },
)

const chatOf = (client: Client, page: JsonObject): Promise<JsonObject> => own(client, 'chat_read_since', page)

/** What one of the compositor's own tools answers; all of the answer where it is an error, and an empty object while there is no host. */
async function own(client: Client, name: string, args: JsonObject): Promise<JsonObject> {
  const answer = await client.callToolRaw(name, args).catch((): JsonObject => ({}))
  return answer.isError !== true && isJsonObject(answer.structuredContent) ? answer.structuredContent : answer
}
