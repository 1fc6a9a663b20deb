import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonObject, type ModelWire, isJsonObject } from '@parley/protocol'
import { expect } from 'vitest'
import type { Conversation, ConversationOptions, Engine } from '../engine.ts'
import type { MiniOptions } from '../mini/mini-options.ts'
import { readLines } from '../mini/transcript/read-lines.ts'
import type { TranscriptEntry } from '../transcript.ts'
import { Recorder, expectWhole } from './contract/recorder.ts'
import { type MiniWorld, openMiniWorld } from './mini-world.ts'
import type { Answer } from './model-server/answer.ts'
import type { ReceivedRequest } from './model-server/model-server.ts'

export interface TalkOptions {
  readonly answers: readonly (Answer | ((request: ReceivedRequest) => Answer))[]
  readonly wire?: ModelWire
  readonly mini?: Partial<MiniOptions>
  readonly options?: Partial<ConversationOptions>
  readonly recorder?: Recorder
}

/** One conversation of the own engine, with everything around it to look at. */
export interface Talk extends AsyncDisposable {
  readonly world: MiniWorld
  readonly engine: Engine
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly options: ConversationOptions
  /** The lines of its log that are on the disk. */
  entries(): readonly TranscriptEntry[]
  /** The items of the n-th request; negative from the end. */
  input(request: number): readonly JsonObject[]
  /** Closes the engine and goes on in another. */
  resume(more?: Partial<ConversationOptions>): Promise<{ readonly conversation: Conversation; readonly recorder: Recorder }>
}

export const TALK_MODEL = 'talker'

export async function openTalk({ answers, wire = 'responses', mini = {}, ...more }: TalkOptions): Promise<Talk> {
  const world = await openMiniWorld({ wire, mini })
  world.scriptWire(TALK_MODEL, answers)
  const engine = await world.openEngine()
  const recorder = more.recorder ?? new Recorder()
  const options = { ...(await world.options(TALK_MODEL)), ...more.options }
  const conversation = await engine.open(options, recorder)
  const recorders = [recorder]
  return {
    world,
    engine,
    conversation,
    recorder,
    options,
    entries: () => entriesOf(world.folder, conversation.id),
    input: (request) => inputOf(world.requests.at(request)),
    resume: async (changed = {}) => {
      await engine.close()
      const listener = new Recorder()
      recorders.push(listener)
      const next = await world.openEngine()
      return { conversation: await next.resume(conversation.id, { ...options, ...changed }, listener), recorder: listener }
    },
    [Symbol.asyncDispose]: async () => {
      const violations = [...world.violations()]
      await world[Symbol.asyncDispose]()
      for (const { events } of recorders) expectWhole(events)
      expect(violations, 'rules of the model provider').toEqual([])
    },
  }
}

export function entriesOf(folder: string, id: string): readonly TranscriptEntry[] {
  const found = readLines(readFileSync(join(folder, 'conversations', `${id}.jsonl`)))
  if (found.kind === 'damaged') throw new TypeError(`line ${found.line} is damaged`)
  return found.entries
}

export function inputOf(request: ReceivedRequest | undefined): readonly JsonObject[] {
  const list = request?.body['input'] ?? request?.body['messages']
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** What the model reads as the output of a call. */
export const outputOf = (input: readonly JsonObject[], call: string): unknown =>
  input.find((item) => item['type'] === 'function_call_output' && item['call_id'] === call)?.['output']
