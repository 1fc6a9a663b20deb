import * as z from 'zod'
import { ApprovalId, PromptId } from '../ids.ts'
import { TokenUsage } from '../model/usage.ts'
import { PromptOutcome } from './prompt.ts'
import { NewsKind } from './wake.ts'

const At = z.iso.datetime()
const Act = z.enum(['completed', 'failed', 'declined'])

/**
 * One line of an agent's transcript. Lines of type `memory` are the engine's own, by which it goes on after a restart; all others say the
 * same whatever the engine is, for people and for an engine that takes over from another. What comes in pieces is written when it is whole.
 */
export const TranscriptLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('memory'), conversation: z.string(), entry: z.looseObject({ type: z.string() }) }),
  /** The agent began as another one, whose lines up to that offset are those before this one. */
  z.object({ type: z.literal('forked'), at: At, agent_id: z.string(), offset: z.int() }),
  /** A turn begins, or goes on after a restart (`resumed`). */
  z.object({
    type: z.literal('turn_started'),
    at: At,
    prompt_id: PromptId,
    number: z.int(),
    by: z.string(),
    text: z.string(),
    /** What began it where nobody's prompt did. */
    woken_by: NewsKind.nullable().default(null),
    engine: z.string(),
    model: z.string(),
    resumed: z.boolean(),
  }),
  /** What the agent was told besides its prompt. */
  z.object({ type: z.literal('notice'), at: At, text: z.string() }),
  z.object({ type: z.literal('message'), at: At, text: z.string() }),
  z.object({ type: z.literal('reasoning'), at: At, text: z.string() }),
  z.object({
    type: z.literal('plan'),
    at: At,
    explanation: z.string().nullable(),
    steps: z.array(z.object({ step: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
  }),
  /** `mount` is null for a tool of the engine's own. */
  z.object({
    type: z.literal('tool'),
    at: At,
    call: z.string(),
    mount: z.string().nullable(),
    tool: z.string(),
    arguments: z.unknown(),
  }),
  z.object({
    type: z.literal('tool_ended'),
    at: At,
    call: z.string(),
    status: Act,
    result: z.record(z.string(), z.unknown()).nullable(),
    error: z.string().nullable(),
    duration_ms: z.number(),
  }),
  z.object({ type: z.literal('command'), at: At, call: z.string(), argv: z.array(z.string()), folder: z.string() }),
  z.object({
    type: z.literal('command_ended'),
    at: At,
    call: z.string(),
    status: Act,
    exit_code: z.int().nullable(),
    output: z.string(),
    duration_ms: z.number(),
  }),
  z.object({
    type: z.literal('patch'),
    at: At,
    call: z.string(),
    changes: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(['add', 'delete', 'update']),
        moved_to: z.string().nullable(),
        diff: z.string(),
      }),
    ),
  }),
  z.object({ type: z.literal('patch_ended'), at: At, call: z.string(), status: Act, error: z.string().nullable() }),
  /** A call of the turn waits for a person; `mount` is null for what the engine does itself. */
  z.object({
    type: z.literal('asked'),
    at: At,
    approval_id: ApprovalId,
    kind: z.string(),
    mount: z.string().nullable(),
    name: z.string(),
    reason: z.string(),
  }),
  z.object({ type: z.literal('usage'), at: At, call: z.string(), usage: TokenUsage, estimated: z.boolean() }),
  /** Older parts were summed up for the model. */
  z.object({ type: z.literal('compacted'), at: At, before: z.int(), after: z.int() }),
  z.object({ type: z.literal('warning'), at: At, message: z.string() }),
  z.object({ type: z.literal('turn_ended'), at: At, prompt_id: PromptId, ...PromptOutcome.shape }),
])
export type TranscriptLine = z.infer<typeof TranscriptLine>
