import * as z from 'zod'
import { AGENT_LIMITS } from '../agent/limits.ts'
import { Heard, NewsPage } from '../agent/news.ts'
import { PromptOutcome } from '../agent/prompt.ts'
import { AgentRest, NewsKind, Yield } from '../agent/wake.ts'
import { PromptId } from '../ids.ts'
import { PreparedModel } from '../model/prepared.ts'
import { READS, SETS, tool } from '../tool.ts'
import { AgentClaim } from './host.ts'

const { transcriptLineBytes, transcriptPageBytes } = AGENT_LIMITS
const OfPrompt = z.strictObject({ ...AgentClaim.shape, prompt_id: PromptId })

export const hostNextPrompt = tool({
  name: 'host.next_prompt',
  roles: ['host'],
  doc: 'What the agent is to answer now: the prompt that a host before began (`resumed`), or the next that waits, which is running from then on. Null: nothing waits.',
  input: AgentClaim,
  output: z.object({
    prompt: z
      .object({
        prompt_id: PromptId,
        number: z.int(),
        text: z.string(),
        by: z.string(),
        /** What began it where nobody's prompt did: what it answers is its news alone. */
        woken_by: NewsKind.nullable(),
        resumed: z.boolean(),
        /** Somebody wants it to end: it is ended, and not begun. */
        aborting: z.boolean(),
        /** The agent ended this turn itself before its host died: it is ended, and not gone on with. */
        yielded: z.boolean(),
      })
      .nullable(),
  }),
  annotations: SETS,
})

export const hostEndPrompt = tool({
  name: 'host.end_prompt',
  roles: ['host'],
  doc: 'The turn of a prompt has ended. The same again changes nothing.',
  input: z.strictObject({ ...OfPrompt.shape, outcome: PromptOutcome }),
  output: z.object({ prompt_id: PromptId, ended: z.literal(true) }),
  annotations: SETS,
})

export const hostPrepareTurn = tool({
  name: 'host.prepare_turn',
  roles: ['host'],
  doc: 'The short-lived key, model and budget of the turn that a prompt is answered in. Asked again, it makes a new key, and the one before ends.',
  input: OfPrompt,
  output: PreparedModel,
  annotations: SETS,
})

export const hostAppendTranscript = tool({
  name: 'host.append_transcript',
  roles: ['host'],
  doc: 'Adds lines to an agent’s transcript, at the offset where it stands. A resend is recognised. `heard`: one of the lines holds what host.news gave, up to there; it counts with the lines or not at all.',
  input: z.strictObject({
    ...AgentClaim.shape,
    offset: z.int().min(0),
    lines: z.array(z.string().max(transcriptLineBytes)).min(1).max(1_000),
    heard: Heard.optional(),
  }),
  output: z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), next_offset: z.int() }),
    z.object({ ok: z.literal(false), code: z.literal('offset_mismatch'), current_offset: z.int() }),
  ]),
  annotations: SETS,
})

export const hostReadTranscript = tool({
  name: 'host.read_transcript',
  roles: ['host'],
  doc: 'Whole lines of an agent’s transcript from an offset, `max_bytes` of them or one that is longer.',
  input: z.strictObject({
    ...AgentClaim.shape,
    offset: z.int().min(0).default(0),
    max_bytes: z.int().min(1).max(transcriptPageBytes).default(transcriptPageBytes),
  }),
  output: z.object({ lines: z.array(z.string()), next_offset: z.int(), end: z.int() }),
  annotations: READS,
})

export const hostNews = tool({
  name: 'host.news',
  roles: ['host'],
  doc: 'What the agent has not been told, oldest first, as much as one request to a model takes. It is told again until host.append_transcript says that it was heard.',
  input: AgentClaim,
  output: NewsPage,
  annotations: READS,
})

export const hostTellNews = tool({
  name: 'host.tell_news',
  roles: ['host'],
  doc: 'A resource that the agent listens to has changed (`certain`), or may have. `digest` stands for its content, null where that cannot be known: what only may have changed is told once of the same content. `told`: it is news.',
  input: z.strictObject({
    ...AgentClaim.shape,
    uri: z.string().min(1).max(AGENT_LIMITS.uriChars),
    digest: z.string().max(128).nullable(),
    certain: z.boolean().default(false),
  }),
  output: z.object({ uri: z.string(), told: z.boolean() }),
  annotations: SETS,
})

export const hostYield = tool({
  name: 'host.yield',
  roles: ['host'],
  doc: 'The agent ends the turn that it takes, and says what is to wake it. What it said last counts.',
  input: z.strictObject({ ...AgentClaim.shape, prompt_id: PromptId, ...Yield.shape }),
  output: z.object({ prompt_id: PromptId, rest: AgentRest }),
  annotations: SETS,
})
