import { resolve } from 'node:path'
import type { JsonValue } from '@parley/protocol'
import * as z from 'zod'
import { ApprovalPolicy } from '@parley/codex/port'
import { conversationNotFound } from '../answer-error.ts'
import type { App } from '../app.ts'
import { ITEMS_MAX } from '../bounds.ts'
import { Uuid } from '../shape/conversation-params.ts'
import { given } from '../../backend/given.ts'
import { readItems } from '../shape/input-items.ts'
import { WireSandboxPolicy, readSandboxPolicy } from '../shape/sandbox-policy.ts'
import type { Submissions } from '../submissions.ts'
import { type Asked, method } from './method.ts'

const Items = z.array(z.custom<JsonValue>()).max(ITEMS_MAX, { error: `must hold at most ${ITEMS_MAX} items` })

const MessageParams = z.object({ conversationId: Uuid, items: Items })

export const sendUserMessage = method(MessageParams, async ({ conversationId, items }, { app, answered }) => {
  const submissions = await submissionsOf(conversationId, app)
  const input = await readItems(items, app)
  return answeredFirst(submissions, answered, () => submissions.say(input))
})

/** What the documents declare, and what Codex calls it. */
const DECLARED_SUMMARIES: Readonly<Record<string, string>> = { always: 'detailed', never: 'none' }

/** Codex wants everything but `effort`; the documents declare all of it optional. */
const TurnParams = MessageParams.extend({
  cwd: z.string().nullish(),
  approvalPolicy: ApprovalPolicy.nullish(),
  sandboxPolicy: WireSandboxPolicy.nullish(),
  model: z.string().nullish(),
  effort: z.enum(['minimal', 'low', 'medium', 'high']).nullish(),
  summary: z.enum(['auto', 'concise', 'detailed', 'none', 'always', 'never']).nullish(),
})

export const sendUserTurn = method(TurnParams, async (params, { app, answered }) => {
  const { conversationId, items, cwd, approvalPolicy, sandboxPolicy, model, effort, summary } = params
  const { notes, folder } = app
  const submissions = await submissionsOf(conversationId, app)
  const input = await readItems(items, app)
  const overrides = given({
    folder: typeof cwd === 'string' ? resolve(folder, cwd) : null,
    approvalPolicy,
    sandboxPolicy: sandboxPolicy ? readSandboxPolicy(sandboxPolicy, notes) : null,
    model,
    effort,
    summary: readSummary(summary ?? undefined, app),
  })
  noteMissing(params, app)
  return answeredFirst(submissions, answered, () => submissions.take({ input, ...overrides }))
})

const InterruptParams = z.object({ conversationId: Uuid })

/** Detached: what is asked meanwhile need not wait until a turn has ended. */
export const interruptConversation = method(
  InterruptParams,
  async ({ conversationId }, { app }) => {
    if (!app.conversations.knows(conversationId)) throw conversationNotFound(conversationId)
    // One that sleeps has no turn.
    const conversation = app.conversations.openOne(conversationId)
    if (conversation !== undefined) await app.listeners.join(conversation).interrupt()
    return { abortReason: 'interrupted' }
  },
  { isDetached: true },
)

/** Throws what the client hears of an id that nobody knows. */
async function submissionsOf(id: string, { conversations, listeners }: App): Promise<Submissions> {
  if (!conversations.knows(id)) throw conversationNotFound(id)
  return listeners.join(await conversations.find(id))
}

/** The answer comes before the first event of what it sets going. */
function answeredFirst({ outbox }: Submissions, answered: Asked['answered'], act: () => void): Record<string, never> {
  outbox.hold()
  void answered.then(() => outbox.release())
  act()
  return {}
}

function readSummary(summary: string | undefined, { notes }: App): string | undefined {
  const meant = summary === undefined ? undefined : DECLARED_SUMMARIES[summary]
  if (meant === undefined) return summary
  notes.once(`summary ${summary}`, `sendUserTurn: the summary "${summary}" is taken for "${meant}"`)
  return meant
}

function noteMissing(params: Readonly<Record<string, unknown>>, { notes }: App): void {
  const missing = ['cwd', 'approvalPolicy', 'sandboxPolicy', 'model', 'summary'].filter((name) => (params[name] ?? null) === null)
  if (missing.length === 0) return
  notes.once('sendUserTurn defaults', `sendUserTurn without ${missing.join(', ')}: as the conversation has it`)
}
