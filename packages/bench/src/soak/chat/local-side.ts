import { type Answer, openModelServer } from '@parley/agent/testing/model-server'
import type { AgentId } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import { MOUNT_NAME } from '../agents/agents-world.ts'
import { SeededRandom } from '../random.ts'
import type { SidePlan } from './agent-side.ts'
import { messagesIn, ToldMessages } from './told-messages.ts'

const MODEL = 'listener'
const CHANNEL = 'default'
/** So much that nothing of a conversation is ever summed up: each request holds all of it. */
const CONTEXT_TOKENS = 10_000_000
/** So slow that kills hit turns in their middle. */
const HOLD_MS = { least: 0, most: 400 }
/** How often the model calls something, and so is asked again in the same turn. */
const CALLS = 0.4

/** A local agent on our own engine. Its model, which is in this process and is not killed, notes what people said to it; it says nothing in the chat itself. */
export async function planLocal(seed: number): Promise<SidePlan> {
  const told = new ToldMessages()
  const answer = answersOf(new SeededRandom(seed))
  const model = await openModelServer({
    wire: 'responses',
    keptRequests: 1,
    answers: ({ body }) => {
      told.add(messagesIn(body))
      return answer()
    },
  })
  return {
    world: {
      env: { PARLEY_MODEL_BASE_URL: model.url, PARLEY_MODEL_API_KEY: 'sk-of-nobody', PARLEY_MODELS: MODEL },
      makeAgent,
    },
    open: ({ tally }) => ({
      hears: ({ from }) => from === 'person',
      heard: () => told.texts,
      // What people write wakes it.
      start: () => undefined,
      lastError: () => model.violations.at(-1) ?? '',
      close: () => {
        for (const words of [...told.problems, ...model.violations]) tally.problem(words)
        tally.count('connections to the model', model.connections)
        return Promise.resolve()
      },
    }),
    [Symbol.asyncDispose]: () => model.close(),
  }
}

async function makeAgent(admin: Client): Promise<AgentId> {
  await admin.callTool('pricing.set', { model: MODEL, upstream_channel: CHANNEL, context_tokens: CONTEXT_TOKENS })
  return (await admin.callTool('agent.create', { kind: 'local', model: MODEL })).agent_id
}

function answersOf(random: SeededRandom): () => Answer {
  let calls = 0
  return () => {
    const manner = { holdMs: random.between(HOLD_MS.least, HOLD_MS.most) }
    if (random.next() >= CALLS) return { pieces: [{ text: 'I have read it.' }], manner }
    return { pieces: [{ call: `${MOUNT_NAME}_effect`, arguments: { call: `of-model-${(calls += 1)}` } }], manner }
  }
}
