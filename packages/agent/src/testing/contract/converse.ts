import { expect } from 'vitest'
import type { Conversation, ConversationOptions, Engine } from '../../engine.ts'
import type { ContractHarness, ContractWorld, ScriptedAnswer } from './harness.ts'
import { Recorder, expectWhole } from './recorder.ts'

/** One conversation of one engine in a world of its own. */
export interface Conversing extends AsyncDisposable {
  readonly world: ContractWorld
  readonly engine: Engine
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly options: ConversationOptions
  readonly folder: string
}

export const MODEL = 'model-one'

export interface ConverseOptions {
  readonly answers: readonly ScriptedAnswer[]
  readonly recorder?: Recorder
  readonly options?: Partial<ConversationOptions>
}

/** Opens a conversation whose model says these things; at its end everything it told is looked over. */
export async function converse(harness: ContractHarness, more: ConverseOptions): Promise<Conversing> {
  const world = await harness.open()
  try {
    world.script(MODEL, more.answers)
    const engine = await world.openEngine()
    const options = { ...(await world.options(MODEL)), ...more.options }
    const recorder = more.recorder ?? new Recorder()
    const conversation = await engine.open(options, recorder)
    const finish = async (): Promise<void> => {
      await engine.close()
      const violations = world.violations()
      await world[Symbol.asyncDispose]()
      expectWhole(recorder.events)
      expect(violations, 'rules of the model provider').toEqual([])
    }
    return { world, engine, conversation, recorder, options, folder: options.folder, [Symbol.asyncDispose]: finish }
  } catch (error) {
    await world[Symbol.asyncDispose]()
    throw error
  }
}
