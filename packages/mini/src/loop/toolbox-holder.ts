import { createHash } from 'node:crypto'
import type { ModelTool } from '../model/model.ts'
import { openToolbox } from '../tool/open-toolbox.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import type { ConversationState } from './conversation-state.ts'
import type { Stopper, Waited } from './stopper.ts'
import { weigh } from './weigh.ts'

/** A toolbox with what requests need of it, made once. */
export interface OpenedToolbox {
  readonly toolbox: Toolbox
  readonly specs: readonly ModelTool[]
  readonly sha256: string
}

/** The toolbox of one conversation: opened when a turn first needs it, tried again by the next turn when that failed. */
export class ToolboxHolder {
  #opening: Promise<OpenedToolbox> | undefined
  readonly #loggedSha256: Set<string>

  constructor(loggedSha256: ReadonlySet<string>) {
    this.#loggedSha256 = new Set(loggedSha256)
  }

  /** Rejects with what kept it from opening. */
  get(state: ConversationState, stopper: Stopper): Promise<Waited<OpenedToolbox>> {
    this.#opening ??= this.#open(state, stopper.signal)
    return stopper.wait(this.#opening)
  }

  /** Whatever is open or about to be. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.toolbox.close()
  }

  async #open(state: ConversationState, signal: AbortSignal): Promise<OpenedToolbox> {
    const { options, mini, limits, log } = state
    // Only the turn that opens it can give it up: it outlives that turn.
    const connecting = new AbortController()
    const giveUp = (): void => connecting.abort()
    signal.addEventListener('abort', giveUp)
    try {
      const toolbox = await openToolbox({ options, ports: mini, limits, signal: connecting.signal })
      for (const warning of toolbox.warnings) state.warn(warning)
      const specs = toolbox.tools.map(({ spec }) => spec)
      const text = JSON.stringify(specs)
      const sha256 = createHash('sha256').update(text).digest('hex')
      if (!this.#loggedSha256.has(sha256)) log.add({ type: 'tools', sha256, tools: specs.map((spec) => ({ ...spec })) })
      this.#loggedSha256.add(sha256)
      state.context.setFixed(weigh(options.instructions) + weigh(text))
      return { toolbox, specs, sha256 }
    } catch (error) {
      this.#opening = undefined
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }
}
