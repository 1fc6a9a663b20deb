import type { ApprovalRequest, EngineEvent } from '@parley/agent'
import type { BackedConversation, EventMessage } from '@parley/codex/port'
import { newerWords } from './0.153/words.ts'
import { olderWords } from './0.44/words.ts'
import { CommandOutput } from './command-output.ts'
import { patchSummary } from './file-changes.ts'
import { HeldActs, QUESTION_MS } from './held-acts.ts'
import { ReasoningParts } from './reasoning-parts.ts'
import { RequestCounts } from './request-counts.ts'
import type { EventDialect, EventTranslator, TranslatorOptions } from './translator.ts'
import { type CommandAct, type PatchAct, planOf, type Speaker, type ToolAct, type Words } from './words.ts'

/** The name under which the engine's own tools are told: Codex has no event for a tool that is nobody's. */
const OWN_SERVER = 'parley'
/** Told as `plan_update` instead. */
const PLAN_TOOL = 'update_plan'
const NONE: readonly EventMessage[] = []
const WORDS: Readonly<Record<EventDialect, (speaker: Speaker) => Words>> = { '0.44': olderWords, '0.153': newerWords }

/** Says in Codex's words, and in Codex's order, what an engine tells. */
export function openTranslator(
  dialect: EventDialect,
  conversation: BackedConversation,
  options: TranslatorOptions = {},
): EventTranslator {
  const { order = {}, now = Date.now, later } = options
  const words = WORDS[dialect]({ conversation, order, now })
  const questionMs = order.approvalPolicy === 'never' ? QUESTION_MS.never : QUESTION_MS.asking
  return new Translator(words, { now, later, folder: order.folder, questionMs })
}

type ActEvent = Extract<EngineEvent, { type: `${'command' | 'patch' | 'tool'}_${'begin' | 'end'}` | 'command_output' }>

interface Surroundings {
  readonly now: () => number
  readonly later: TranslatorOptions['later']
  readonly folder: string | undefined
  readonly questionMs: number
}

class Translator implements EventTranslator {
  readonly #words: Words
  readonly #around: Surroundings
  readonly #counts: RequestCounts
  readonly #held: HeldActs
  readonly #reasoning = new ReasoningParts()
  readonly #commands = new Map<string, { readonly act: CommandAct; readonly output: CommandOutput }>()
  readonly #patches = new Map<string, PatchAct>()
  readonly #tools = new Map<string, ToolAct>()
  /** Patches that somebody is asked about, by question. */
  readonly #patchQuestions = new Map<string, string>()
  #lastItem: string | undefined

  constructor(words: Words, around: Surroundings) {
    this.#words = words
    this.#around = around
    this.#counts = new RequestCounts(words)
    this.#held = new HeldActs(around.later, around.questionMs)
  }

  configured(): EventMessage {
    return this.#words.configured()
  }

  said(text: string): readonly EventMessage[] {
    const out: EventMessage[] = []
    this.#words.said(text, out)
    return out
  }

  translate(event: EngineEvent): readonly EventMessage[] {
    const out: EventMessage[] = []
    const words = this.#words
    switch (event.type) {
      case 'turn_started':
        this.#forget()
        words.started(event.turn, out)
        return out
      case 'message_delta':
        // The hot path: only the first piece of an item can begin anything.
        if (event.item !== this.#lastItem) this.#beginItem(event.item, out)
        words.delta(event.item, event.delta, out)
        return out
      case 'message':
        this.#counts.wholeItem(event.item, out)
        words.message(event.item, event.text, out)
        this.#counts.finishItem()
        return out
      case 'reasoning_part':
        this.#beginItem(event.item, out)
        this.#reasoning.part(event.item, event.part)
        words.reasoningPart(event, out)
        return out
      case 'reasoning_delta':
        if (event.item !== this.#lastItem) this.#beginItem(event.item, out)
        this.#reasoning.delta(event)
        words.reasoningDelta(event, out)
        return out
      case 'reasoning':
        this.#counts.wholeItem(event.item, out)
        this.#thought(event.item, event.text, out)
        return out
      case 'usage':
        this.#counts.usage(event, out)
        return out
      case 'approval_requested':
        this.#counts.act(out)
        this.#asked(event.request, out)
        return out
      case 'approval_resolved':
        this.#resolved(event, out)
        return out
      case 'diff':
        this.#counts.diff = event.diff
        out.push({ type: 'turn_diff', unified_diff: event.diff })
        return out
      case 'plan':
        this.#counts.act(out)
        out.push(planOf(event))
        return out
      case 'retry':
        words.retry(event, out)
        return out
      case 'compacted':
        words.compacted(event, out)
        return out
      case 'warning':
        words.warning(event.message, out)
        return out
      case 'turn_ended':
        this.#counts.end(event.end, out)
        words.ended(event, out)
        this.#forget()
        return out
      case 'tool_output':
        return NONE
      case 'command_begin':
      case 'command_output':
      case 'command_end':
      case 'patch_begin':
      case 'patch_end':
      case 'tool_begin':
      case 'tool_end':
        this.#act(event, out)
        return out
      default:
        return event satisfies never
    }
  }

  #thought(item: string, text: string, out: EventMessage[]): void {
    const told = this.#reasoning.finish(item, text)
    if (told !== undefined) this.#words.reasoning(item, told, out)
  }

  #beginItem(item: string, out: EventMessage[]): void {
    const before = this.#reasoning.next(item)
    if (before !== undefined) this.#thought(before, '', out)
    this.#counts.item(item, out)
    this.#lastItem = item
  }

  #act(event: ActEvent, out: EventMessage[]): void {
    switch (event.type) {
      case 'command_begin':
        this.#counts.act(out)
        return this.#commandBegan(event)
      case 'command_output': {
        this.#held.release(event.call, out)
        this.#commands.get(event.call)?.output.add(event.stream, event.bytes)
        return this.#words.commandSaid(event, out)
      }
      case 'command_end':
        return this.#commandEnded(event, out)
      case 'patch_begin':
        this.#counts.act(out)
        return this.#patchBegan(event)
      case 'patch_end':
        return this.#patchEnded(event, out)
      case 'tool_begin':
        this.#counts.act(out)
        return this.#toolBegan(event, out)
      case 'tool_end': {
        const act = this.#tools.get(event.call)
        this.#tools.delete(event.call)
        if (act !== undefined) this.#words.toolEnded(act, event, out)
        return undefined
      }
      default:
        return event satisfies never
    }
  }

  #asked(request: ApprovalRequest, out: EventMessage[]): void {
    if (request.kind === 'command') {
      this.#held.asked(request.call, request.id)
      return this.#words.commandAsked(request, out)
    }
    if (request.kind !== 'patch') return
    this.#held.asked(request.call, request.id)
    this.#patchQuestions.set(request.id, request.call)
    if (this.#words.patchBeginsBeforeQuestion) this.#held.release(request.call, out)
    this.#words.patchAsked(request, out)
  }

  #resolved({ id, decision }: Extract<EngineEvent, { type: 'approval_resolved' }>, out: EventMessage[]): void {
    this.#held.resolved(id, decision, out)
    const patch = this.#patchQuestions.get(id)
    this.#patchQuestions.delete(id)
    // Codex says nothing more of a patch for which the turn is ended.
    if (patch !== undefined && decision === 'abort') this.#patches.delete(patch)
  }

  #commandBegan({ call, argv, folder }: Extract<EngineEvent, { type: 'command_begin' }>): void {
    const act = { call, argv, folder, startedAt: this.#around.now() }
    this.#commands.set(call, { act, output: new CommandOutput() })
    this.#held.hold(call, (_wasAsked, out) => this.#words.commandBegan(act, out))
  }

  #commandEnded(event: Extract<EngineEvent, { type: 'command_end' }>, out: EventMessage[]): void {
    const { call, status, exitCode, durationMs } = event
    const running = this.#commands.get(call)
    this.#commands.delete(call)
    // Codex says nothing more of a command that was not allowed to begin.
    if (this.#held.drop(call, status)) return
    this.#held.release(call, out)
    if (running === undefined) return
    const streams = running.output.texts(event.output)
    this.#words.commandEnded(running.act, { status, exitCode: exitCode ?? -1, durationMs, ...streams }, out)
  }

  #patchBegan({ call, changes }: Extract<EngineEvent, { type: 'patch_begin' }>): void {
    const act = { call, changes, startedAt: this.#around.now() }
    this.#patches.set(call, act)
    this.#held.hold(call, (wasAsked, out) => this.#words.patchBegan(act, wasAsked, out))
  }

  #patchEnded({ call, status, error }: Extract<EngineEvent, { type: 'patch_end' }>, out: EventMessage[]): void {
    const act = this.#patches.get(call)
    this.#patches.delete(call)
    if (!this.#words.patchBeginsBeforeQuestion && this.#held.drop(call, status)) return
    this.#held.release(call, out)
    if (act === undefined) return
    const stdout = status === 'completed' ? patchSummary(act.changes, this.#around.folder) : ''
    this.#words.patchEnded(act, { status, stdout, stderr: error ?? '' }, out)
  }

  #toolBegan(event: Extract<EngineEvent, { type: 'tool_begin' }>, out: EventMessage[]): void {
    if (event.mount === null && event.tool === PLAN_TOOL) return
    const { call, tool, mount, arguments: args } = event
    const act = { call, tool, server: mount ?? OWN_SERVER, arguments: args, startedAt: this.#around.now() }
    this.#tools.set(call, act)
    this.#words.toolBegan(act, out)
  }

  #forget(): void {
    this.#lastItem = undefined
    this.#counts.begin()
    this.#held.clear()
    this.#reasoning.clear()
    this.#commands.clear()
    this.#patches.clear()
    this.#tools.clear()
    this.#patchQuestions.clear()
  }
}
