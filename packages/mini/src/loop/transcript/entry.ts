import { Heard, type JsonObject, TokenUsage, isJsonObject } from '@parley/protocol'
import * as z from 'zod'
import type { ModelItem } from '../../model/model.ts'

const Item = z.custom<ModelItem>(
  (value) => isJsonObject(value) && typeof value['type'] === 'string',
  'must be an item of a model',
)
const Json = z.custom<JsonObject>(isJsonObject, 'must be an object')
const Seq = z.int().min(1)
const At = z.iso.datetime()

/**
 * One line of the log of a conversation. `seq` counts from one without gaps, over restarts too; items are named by the
 * `seq` of the line that brought them. No line repeats what an earlier one said, so the log grows with the conversation.
 */
export const MiniEntry = z.discriminatedUnion('type', [
  /** The first line. `options` has no secrets: of mounts only their names. */
  z.object({
    type: z.literal('opened'),
    seq: Seq,
    at: At,
    conversation: z.string(),
    model: z.string(),
    instructions: z.string(),
    instructions_sha256: z.string(),
    options: Json,
  }),
  /** Another process goes on. Another model drops the reasoning of the earlier one. */
  z.object({
    type: z.literal('resumed'),
    seq: Seq,
    at: At,
    model: z.string(),
    /** Null: as they were. */
    instructions: z.string().nullable(),
    instructions_sha256: z.string(),
    options: Json,
  }),
  z.object({
    type: z.literal('turn'),
    seq: Seq,
    at: At,
    turn: z.string(),
    number: z.int().min(1),
    /** Null: that of the conversation, if it has one. */
    output_schema: Json.nullable(),
    budget: Json.nullable(),
  }),
  /** What somebody said, as the item that the model reads. `heard`: it holds news up to there. */
  z.object({ type: z.literal('input'), seq: Seq, item: Item, pinned: z.boolean(), heard: Heard.optional() }),
  /** The tools that requests with this hash offer. */
  z.object({ type: z.literal('tools'), seq: Seq, sha256: z.string(), tools: z.array(Json) }),
  /**
   * A request to the model. Of a `turn`: instructions and schema as they stand, the items before this line, as many as
   * `items` says. Of a `compaction`: what `handed_over` says.
   */
  z.object({
    type: z.literal('request'),
    seq: Seq,
    at: At,
    purpose: z.enum(['turn', 'compaction']),
    model: z.string(),
    items: z.int().min(0),
    tools_sha256: z.string().nullable(),
    effort: z.string().nullable(),
    /** The items whose text, cut to so many characters, the model is told to sum up. */
    handed_over: z
      .object({ seqs: z.array(Seq), characters: z.int(), instructions: z.string() })
      .nullable()
      .default(null),
  }),
  /** How one sending of the last request ended. What failed or was cut has said nothing that counts: its error stands here. */
  z.object({ type: z.literal('exchange'), seq: Seq, exchange: Json }),
  z.object({
    type: z.literal('usage'),
    seq: Seq,
    call: z.string(),
    usage: TokenUsage,
    estimated: z.boolean(),
    /** Null: the model has no price. */
    microusd: z.int().min(0).nullable(),
  }),
  /** What the model said. Items of one answer have one `group` and are never parted. */
  z.object({
    type: z.literal('item'),
    seq: Seq,
    group: z.int().min(1),
    item: Item,
    /** A call that was answered before under the same id, and is not made again. */
    repeated: z.literal(true).optional(),
    /** Whoever keeps the log has taken a secret out of it: what is left is not what the model asked for. */
    masked: z.literal(true).optional(),
  }),
  /** What the model said that no later request repeats: a summary as it came, thoughts that nothing followed. */
  z.object({ type: z.literal('unkept'), seq: Seq, items: z.array(Item) }),
  /** `made_up`: no tool gave it, the engine says why there is none. */
  z.object({ type: z.literal('output'), seq: Seq, item: Item, made_up: z.boolean() }),
  /** Whether a call may be made. */
  z.object({
    type: z.literal('decision'),
    seq: Seq,
    call: z.string(),
    by: z.enum(['gate', 'mode', 'person', 'remembered']),
    decision: z.string(),
    reason: z.string().nullable(),
  }),
  /**
   * A call is sent now, or was about to be: what it did nobody knows until its output is there. Where the options say `keeps_approvals`, a call
   * without this line was never sent.
   */
  z.object({ type: z.literal('dispatched'), seq: Seq, call: z.string() }),
  /** From here on `summary` stands where the last of the replaced items stood. They are named by their `seq`. */
  z.object({
    type: z.literal('compacted'),
    seq: Seq,
    summary: Item,
    replaced: z.array(Seq).min(1),
    before: z.int().min(0),
    after: z.int().min(0),
  }),
  z.object({ type: z.literal('turn_ended'), seq: Seq, at: At, turn: z.string(), wall_ms: z.int().min(0), end: Json }),
  z.object({ type: z.literal('warning'), seq: Seq, message: z.string() }),
])
export type MiniEntry = z.infer<typeof MiniEntry>

type Unnumbered<Entry> = Entry extends MiniEntry ? Omit<Entry, 'seq'> : never
/** A line before the log has given it its number. */
export type NewEntry = Unnumbered<MiniEntry>

export const ENTRY_TYPES: ReadonlySet<string> = new Set(MiniEntry.options.map((option) => option.shape.type.value))
