import type { ModelPrices } from '@parley/protocol'
import type { Commands } from '../commands.ts'
import type { Gate } from '../gate.ts'
import type { ModelClient } from '../model.ts'
import type { ConnectMount } from '../mount.ts'
import type { Transcripts } from '../transcript.ts'

/** What is known about a model; null where nobody knows. */
export interface ModelFacts {
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  /** For the budget of money. */
  readonly prices: ModelPrices | null
}

/** What the own engine needs from outside. */
export interface MiniOptions {
  readonly model: ModelClient
  readonly facts: (model: string) => ModelFacts
  /** Left out: there is no `shell`. */
  readonly commands?: Commands
  /** Folders and files that no tool of a conversation reads or writes, whatever its reach. `commands` keeps them from programs. */
  readonly outOfReach?: readonly string[]
  readonly connectMount: ConnectMount
  /** Left out: the approval mode alone decides. */
  readonly gate?: Gate
  readonly transcripts: Transcripts
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  readonly limits?: Partial<MiniLimits>
}

/** Bounds of a conversation. */
export interface MiniLimits {
  /** Requests to the model in one turn. */
  readonly requestsPerTurn: number
  /** What of one tool's result the model gets to read. */
  readonly resultBytes: number
  /** Calls of one answer that run side by side. */
  readonly callsAtOnce: number
  readonly commandMs: number
  readonly mountConnectMs: number
  readonly toolMs: number
  /** Of the context, after which older parts are summed up. */
  readonly compactAt: number
  /** The context of a model that nobody knows the size of. */
  readonly contextTokens: number
  /** The newest items that a compaction leaves as they are. */
  readonly keptItems: number
  /** How long what runs may take to end after an interrupt. */
  readonly interruptMs: number
}

export const MINI_LIMITS: MiniLimits = {
  requestsPerTurn: 100,
  resultBytes: 32 * 1024,
  callsAtOnce: 8,
  commandMs: 120_000,
  mountConnectMs: 30_000,
  toolMs: 660_000,
  compactAt: 0.8,
  contextTokens: 128_000,
  keptItems: 10,
  interruptMs: 500,
}
