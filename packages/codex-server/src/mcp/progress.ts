import type { EngineEvent } from '@parley/agent'
import { shellWords } from '../event/parsed-command.ts'

/** Deltas come by the hundred: a client that asked for progress hears of them this often. */
const DELTA_EVERY_MS = 1_000
const MESSAGE_CHARACTERS = 200

/** Says how a turn gets on, for clients that show that. */
export class Progress {
  readonly #tell: (progress: number, message: string) => void
  readonly #now: () => number
  #steps = 0
  #deltaAt = 0

  constructor(tell: (progress: number, message: string) => void, now: () => number) {
    this.#tell = tell
    this.#now = now
  }

  event(event: EngineEvent): void {
    if (event.type === 'message_delta' || event.type === 'reasoning_delta') return this.#delta(event.type)
    const message = messageOf(event)
    if (message !== undefined) this.#step(message)
  }

  #delta(type: 'message_delta' | 'reasoning_delta'): void {
    const now = this.#now()
    if (now - this.#deltaAt < DELTA_EVERY_MS) return
    this.#deltaAt = now
    this.#step(type === 'message_delta' ? 'answering' : 'thinking')
  }

  #step(message: string): void {
    this.#steps += 1
    this.#tell(this.#steps, message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS)}…` : message)
  }
}

/** One for each kind of event that is worth it; the others say too little or come too often. */
const MESSAGES: { readonly [T in EngineEvent['type']]?: (event: Extract<EngineEvent, { type: T }>) => string } = {
  turn_started: () => 'turn started',
  command_begin: ({ argv }) => `running ${shellWords(argv)}`,
  command_end: ({ exitCode, status }) => (exitCode === null ? `the command ${status}` : `the command ended with ${exitCode}`),
  patch_begin: ({ changes }) => `patching ${changes.map(({ path }) => path).join(', ')}`,
  patch_end: ({ status }) => `the patch ${status}`,
  tool_begin: ({ mount, tool }) => `calling ${mount === null ? tool : `${mount}.${tool}`}`,
  plan: ({ steps }) => `plan: ${steps.find(({ status }) => status === 'in_progress')?.step ?? `${steps.length} steps`}`,
  approval_requested: () => 'waiting for an approval',
  retry: ({ reason }) => `asking the model again: ${reason}`,
  message: () => 'answered',
}

function messageOf<T extends EngineEvent['type']>(event: Extract<EngineEvent, { type: T }>): string | undefined {
  const type: T = event.type
  return MESSAGES[type]?.(event)
}
