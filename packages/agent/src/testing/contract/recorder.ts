import { expect } from 'vitest'
import type { ApprovalReply, ApprovalRequest } from '../../approval.ts'
import type { Conversation, ConversationListener, TurnInput } from '../../engine.ts'
import type { EngineEvent, TurnEnd } from '../../event.ts'

type EventOf<Type extends EngineEvent['type']> = Extract<EngineEvent, { readonly type: Type }>
type Decide = (request: ApprovalRequest, signal: AbortSignal) => ApprovalReply | Promise<ApprovalReply>

/** Hears a conversation, answers what it asks, and can be waited on. */
export class Recorder implements ConversationListener {
  readonly events: EngineEvent[] = []
  readonly asked: ApprovalRequest[] = []
  readonly #decide: Decide
  readonly #watchers = new Set<(event: EngineEvent) => void>()

  constructor(decide: Decide = () => 'approved') {
    this.#decide = decide
  }

  event(event: EngineEvent): void {
    this.events.push(event)
    for (const watcher of this.#watchers) watcher(event)
  }
  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply> {
    this.asked.push(request)
    return this.#decide(request, signal)
  }

  all<Type extends EngineEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type)
  }
  /** The only one of its type. */
  one<Type extends EngineEvent['type']>(type: Type): EventOf<Type> {
    const [event, ...more] = this.all(type)
    if (event === undefined || more.length > 0)
      throw new TypeError(`there must be one ${type}, there are ${this.all(type).length}`)
    return event
  }
  /** Settles when the first of this type has come. */
  seen(type: EngineEvent['type']): Promise<void> {
    if (this.events.some((event) => event.type === type)) return Promise.resolve()
    return new Promise((resolve) => {
      const watcher = (event: EngineEvent): void => {
        if (event.type !== type) return
        this.#watchers.delete(watcher)
        resolve()
      }
      this.#watchers.add(watcher)
    })
  }
}

export const said = (text: string): TurnInput => ({ input: [{ type: 'text', text }] })

/** Submits and waits for the end. */
export const turn = (conversation: Conversation, text: string): Promise<TurnEnd> => conversation.submit(said(text)).ended

/** What must hold for the events of any conversation between two turns. */
export function expectWhole(events: readonly EngineEvent[]): void {
  const open = new Set<string>()
  let running: string | undefined
  for (const event of events) {
    if (event.type === 'turn_started') {
      expect(running, 'one turn at a time').toBeUndefined()
      running = event.turn
      continue
    }
    expect(running, `${event.type} inside a turn`).toBeDefined()
    if (event.type === 'turn_ended') {
      expect(event.turn).toBe(running)
      expect([...open], 'begun and not ended').toEqual([])
      running = undefined
    } else if (isBegin(event)) {
      expect(open.has(keyOf(event)), `${keyOf(event)} begins once`).toBe(false)
      open.add(keyOf(event))
    } else if (isEnd(event)) expect(open.delete(keyOf(event)), `${keyOf(event)} begins before it ends`).toBe(true)
    else if (event.type === 'approval_requested') open.add(`approval ${event.request.id}`)
    else if (event.type === 'approval_resolved') expect(open.delete(`approval ${event.id}`)).toBe(true)
  }
  expect(running, 'every turn ends').toBeUndefined()
}

type Begin = EventOf<'command_begin' | 'patch_begin' | 'tool_begin'>
type End = EventOf<'command_end' | 'patch_end' | 'tool_end'>
const isBegin = (event: EngineEvent): event is Begin => event.type.endsWith('_begin')
const isEnd = (event: EngineEvent): event is End => /^(command|patch|tool)_end$/.test(event.type)
const keyOf = (event: Begin | End): string => `${event.type.split('_')[0] ?? ''} ${event.call}`
