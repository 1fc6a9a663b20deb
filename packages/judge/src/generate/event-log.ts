import { type EngineEvent, secondsText } from '@parley/agent'
import { type AgentStage, STATUS_SERVER_NAME } from '@parley/protocol'
import { cutChars } from '../status/cut.ts'
import type { JobVoice, StatusLine } from '../tester.ts'
import { DeltaBatch } from './delta-batch.ts'
import type { ByteRedaction, Redactor } from './redact.ts'

export interface EventLogParts {
  readonly voice: JobVoice
  readonly redactor: Redactor
  readonly attempt: number
  readonly batchChars: number
  readonly batchMs: number
}

const SUMMARY_CHARS = 200
const META_CHARS = 2_000

/** Tells whoever watches a job what an engine does. Nothing secret gets through. */
export class EventLog {
  readonly #parts: EventLogParts
  readonly #deltas: DeltaBatch
  readonly #terminals = new Map<string, { readonly bytes: ByteRedaction; readonly text: TextDecoder }>()
  readonly #tools = new Map<string, string>()

  constructor(parts: EventLogParts) {
    this.#parts = parts
    this.#deltas = new DeltaBatch({ ...parts, stage: () => this.#stage })
  }

  get #stage(): AgentStage {
    return this.#parts.attempt > 1 ? 'repair' : 'coding'
  }

  /** A line of our own among those of the engine, in its place. */
  say(line: StatusLine): void {
    this.#deltas.flush()
    this.#parts.voice.status(this.#parts.redactor.line(line))
  }

  warn(summary: string, meta: Readonly<Record<string, unknown>> = {}): void {
    this.say({ stage: this.#stage, level: 'warn', summary: this.#cut(summary, META_CHARS), meta })
  }

  /** What waits to travel together goes out now. */
  flush(): void {
    this.#deltas.flush()
  }

  /** What was held back goes out; nothing more comes. */
  end(): void {
    for (const call of [...this.#terminals.keys()]) this.#endTerminal(call)
    this.#deltas.endAll()
  }

  take(event: EngineEvent): void {
    switch (event.type) {
      case 'message_delta':
        return this.#deltas.push({ key: event.item, kind: 'agent_message_delta', meta: { item: event.item } }, event.delta)
      case 'message':
        return this.#deltas.end(event.item)
      case 'reasoning_delta': {
        const meta = { item: event.item, summary_index: event.part, ...(event.raw ? { raw: true } : {}) }
        return this.#deltas.push({ key: `${event.item} ${event.part}`, kind: 'reasoning_summary_delta', meta }, event.delta)
      }
      case 'reasoning_part':
        return this.#boundary(event.item, event.part)
      case 'reasoning':
        return this.#endReasoning(event.item)
      case 'plan':
        return this.#plan(event)
      case 'tool_begin':
      case 'tool_end':
      case 'tool_output':
        return this.#tool(event)
      case 'command_begin':
      case 'command_output':
      case 'command_end':
        return this.#command(event)
      case 'patch_begin': {
        const paths = event.changes.map(({ path, kind }) => `${kind} ${path}`)
        return this.#info(`changes files: ${paths.join(', ')}`, { phase: 'patch_begin', call: event.call })
      }
      case 'patch_end':
        if (event.status === 'completed') return this.#info('files changed', { phase: 'patch_end', call: event.call })
        return this.warn(`files not changed: ${event.error ?? event.status}`, { phase: 'patch_end', call: event.call })
      case 'approval_requested':
        return this.warn(`denied, because nobody can be asked here: ${event.request.reason ?? event.request.kind}`)
      case 'retry':
        return this.#retry(event)
      case 'compacted':
        return this.#info(`the conversation was summed up: ${event.before} tokens to ${event.after}`, { phase: 'compacted' })
      case 'warning':
        return this.warn(event.message)
      case 'turn_ended':
        return this.end()
      case 'turn_started':
      case 'diff':
      case 'usage':
      case 'approval_resolved':
    }
  }

  #retry({ attempt, most, waitMs, reason, brief = reason }: Extract<EngineEvent, { type: 'retry' }>): void {
    const when = waitMs === 0 ? 'trying again' : `trying again in ${secondsText(waitMs)}`
    const which = most === undefined ? `try ${attempt}` : `try ${attempt} of ${most}`
    const meta = {
      phase: 'retry',
      retry: attempt,
      ...(most === undefined ? {} : { most }),
      wait_ms: waitMs,
      reason: this.#cut(reason, META_CHARS),
    }
    this.warn(`${brief}, ${when} (${which})`, meta)
  }

  #info(summary: string, meta: Readonly<Record<string, unknown>>): void {
    this.say({ stage: this.#stage, level: 'info', summary: this.#cut(summary, SUMMARY_CHARS), meta })
  }

  /** Secrets go first: of one that a cut parts, the beginning would stay. */
  #cut(text: string, chars: number): string {
    return cutChars(this.#parts.redactor.text(text), chars)
  }

  #boundary(item: string, part: number): void {
    this.#deltas.end(`${item} ${part - 1}`)
    this.say({
      stage: this.#stage,
      level: 'info',
      summary: '',
      kind: 'reasoning_summary_boundary',
      delta: '',
      meta: { item, summary_index: part },
    })
  }

  #endReasoning(item: string): void {
    for (let part = 0; part < REASONING_PARTS_MAX; part += 1) this.#deltas.end(`${item} ${part}`)
  }

  #plan({ explanation, steps }: Extract<EngineEvent, { type: 'plan' }>): void {
    const current = steps.find(({ status }) => status === 'in_progress')
    const done = steps.filter(({ status }) => status === 'completed').length
    const summary = explanation ?? current?.step ?? `plan: ${done} of ${steps.length} steps done`
    const meta = { steps: steps.map(({ step, status }) => ({ step, status })) }
    this.say({ stage: 'plan', level: 'info', summary: this.#cut(summary, SUMMARY_CHARS), meta })
  }

  #tool(event: Extract<EngineEvent, { type: `tool_${string}` }>): void {
    if (event.type === 'tool_output') return
    if (event.type === 'tool_begin') {
      // What is said through the status server stands in the log already.
      if (event.mount === STATUS_SERVER_NAME) {
        if (event.tool === 'judge.self_test')
          this.#info('tests itself', { phase: 'tool_begin', call: event.call, tool: event.tool })
        return
      }
      const name = event.mount === null ? event.tool : `${event.mount} ${event.tool}`
      this.#tools.set(event.call, name)
      const shown = this.#cut(JSON.stringify(event.arguments), META_CHARS)
      return this.#info(`calls ${name}`, { phase: 'tool_begin', call: event.call, tool: event.tool, arguments: shown })
    }
    const name = this.#tools.get(event.call)
    this.#tools.delete(event.call)
    if (name === undefined && event.status === 'completed') return
    const meta = { phase: 'tool_end', call: event.call, status: event.status, duration_ms: Math.round(event.durationMs) }
    if (event.status === 'completed') return this.#info(`${name} answered`, meta)
    this.warn(`${name ?? 'a tool'} ${event.status}: ${event.error ?? 'without words'}`, meta)
  }

  #command(event: Extract<EngineEvent, { type: `command_${string}` }>): void {
    const { voice, redactor } = this.#parts
    const key = `${event.call} output`
    if (event.type === 'command_begin') {
      voice.terminal(redactor.text(`$ ${event.argv.join(' ')}\n`))
      return this.#info(`runs ${event.argv.join(' ')}`, { phase: 'command_begin', call: event.call })
    }
    if (event.type === 'command_output') {
      const terminal = this.#terminals.get(event.call) ?? { bytes: redactor.byteStream(), text: new TextDecoder() }
      this.#terminals.set(event.call, terminal)
      const text = terminal.text.decode(terminal.bytes.push(event.bytes), { stream: true })
      if (text === '') return
      voice.terminal(text)
      return this.#deltas.push({ key, kind: 'command_output_delta', meta: { call: event.call, stream: event.stream } }, text)
    }
    this.#endTerminal(event.call)
    const meta = { phase: 'command_end', call: event.call, exit_code: event.exitCode, duration_ms: Math.round(event.durationMs) }
    if (event.status === 'completed') return this.#info(`ended with ${event.exitCode ?? 'a signal'}`, meta)
    this.warn(
      event.status === 'declined' ? 'the command was not run' : `the command failed (${event.exitCode ?? 'no exit code'})`,
      meta,
    )
  }

  #endTerminal(call: string): void {
    const terminal = this.#terminals.get(call)
    this.#terminals.delete(call)
    if (terminal === undefined) return
    const rest = terminal.text.decode(terminal.bytes.end())
    if (rest !== '') {
      this.#parts.voice.terminal(rest)
      this.#deltas.push({ key: `${call} output`, kind: 'command_output_delta', meta: { call } }, rest)
    }
    this.#deltas.end(`${call} output`)
  }
}

/** Parts of a reasoning of which something may be held back. */
const REASONING_PARTS_MAX = 64
