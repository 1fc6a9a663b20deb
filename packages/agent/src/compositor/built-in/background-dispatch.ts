import {
  AGENT_LIMITS,
  CallCancelled,
  type BackgroundCallEnd,
  type CallId,
  type JsonObject,
  isJsonObject,
  messageOf,
  parseJson,
  ToolError,
} from '@parley/protocol'
import { type Caller, InputRequired, JsonText, type ServiceResult } from '@parley/rpc'
import type { MountDispatch } from '../mount-dispatch.ts'
import type { MountTable } from '../mount-table.ts'
import type { BackgroundDesk } from '../ports.ts'
import { readContent } from '../shown/resource-content.ts'
import { windowOf } from './read-window.ts'
import { detachedCall } from './detached-call.ts'

type Said<Name extends 'begin' | 'get' | 'list'> = Awaited<ReturnType<BackgroundDesk[Name]>>

interface BackgroundDispatchParts<C extends Caller> {
  readonly desk: BackgroundDesk
  readonly table: MountTable<C>
  readonly dispatch: MountDispatch<C>
  readonly log: (level: 'info' | 'warn', message: string) => void
}

const MIME_TYPE = 'application/json'

/**
 * Calls of mounts that go on beside their callers' turns. Each is written down before it is made, and passes the gate like any other. When the
 * compositor closes they are left: whoever holds the agent next says that nobody knows how they ended.
 */
export class BackgroundDispatch<C extends Caller> {
  readonly #parts: BackgroundDispatchParts<C>
  readonly #running = new Map<CallId, AbortController>()
  readonly #watchers = new Map<string, Set<() => void>>()
  #isClosed = false

  constructor(parts: BackgroundDispatchParts<C>) {
    this.#parts = parts
  }

  async begin(name: string, args: JsonObject, caller: C): Promise<Said<'begin'>> {
    const { desk, table } = this.#parts
    // A tool that is not there is told at once, and so is one of our own, which answers at once anyhow.
    const target = table.tool(name)
    const call = await desk.begin(name, args, caller)
    const ending = new AbortController()
    this.#running.set(call.call_id, ending)
    void this.#run(call, ending, () =>
      this.#parts.dispatch.call({
        kind: 'tool',
        target,
        method: 'tools/call',
        params: { name: target.name, arguments: args },
        call: detachedCall(caller, ending.signal),
        isBackground: true,
      }),
    )
    return call
  }

  async result(id: CallId, { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number }) {
    const { call, result } = await this.#parts.desk.get(id)
    if (result === null) return { call, result: null }
    const content = readContent({ contents: [{ uri: call.uri, mimeType: MIME_TYPE, text: result }] })
    const { text = '', offset: from, next_offset, eof, total } = windowOf(content, { part: 0, offset, maxBytes })
    return { call, result: { text, offset: from, next_offset, eof, total } }
  }

  async cancel(id: CallId): Promise<boolean> {
    const running = this.#running.get(id)
    // One that is not there is told as such.
    if (running === undefined) await this.#parts.desk.get(id)
    running?.abort(new CallCancelled('cancelled by the agent'))
    return running !== undefined
  }

  list(): Promise<Said<'list'>> {
    return this.#parts.desk.list()
  }

  /** Whether it is the URI of a call of this agent's. */
  has(uri: string): boolean {
    return this.#parts.desk.callAt(uri) !== undefined
  }

  async read(uri: string): Promise<JsonObject> {
    const id = this.#parts.desk.callAt(uri)
    if (id === undefined) throw new ToolError('not_found', `there is no call ${uri}`)
    const { call, result } = await this.#parts.desk.get(id)
    return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify({ ...call, result }) }] }
  }

  watch(uri: string, changed: () => void): () => void {
    const watcher = (): void => changed()
    const watchers = this.#watchers.get(uri) ?? new Set()
    this.#watchers.set(uri, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(uri) === watchers) this.#watchers.delete(uri)
    }
  }

  /** What goes on is cut off, and nothing is said of how it ended. */
  close(): void {
    this.#isClosed = true
    for (const ending of this.#running.values()) ending.abort()
  }

  async #run({ call_id: id, uri }: Said<'begin'>, ending: AbortController, make: () => Promise<ServiceResult>): Promise<void> {
    const { desk } = this.#parts
    const end = await make().then(
      (result) => returned(result, desk),
      (error: unknown) => failed(error, ending.signal, desk),
    )
    try {
      if (!this.#isClosed) await desk.end(id, end)
    } catch (error) {
      // Whoever holds the agent next says that nobody knows.
      if (!this.#isClosed) this.#parts.log('warn', `how a background call ended cannot be written down: ${messageOf(error)}`)
    } finally {
      this.#running.delete(id)
      desk.over(id)
      for (const watcher of this.#watchers.get(uri) ?? []) watcher()
    }
  }
}

const NO_RESULT = { result: null, is_cut: false } as const

type Mask = Pick<BackgroundDesk, 'mask' | 'jsonOf'>

function returned(result: ServiceResult, { mask, jsonOf }: Mask): BackgroundCallEnd {
  if (result instanceof InputRequired)
    return {
      state: 'failed',
      ...NO_RESULT,
      is_error: true,
      message: 'its server wants to ask somebody, and nobody can be asked in the background',
    }
  const value = result instanceof JsonText ? parseJson(result.text) : result
  // A part of a secret would not be known again, so it is taken out before the end is cut off.
  const text = value === undefined && result instanceof JsonText ? mask(result.text) : jsonOf(value ?? null)
  const bytes = Buffer.from(text)
  const isCut = bytes.length > AGENT_LIMITS.backgroundResultBytes
  // A character that is cut in two is left out.
  const kept = isCut
    ? bytes
        .subarray(0, AGENT_LIMITS.backgroundResultBytes)
        .toString()
        .replace(/\uFFFD$/, '')
    : text
  const isError = isJsonObject(value) && value['isError'] === true
  return { state: 'returned', result: kept, is_cut: isCut, is_error: isError, message: '' }
}

function failed(error: unknown, signal: AbortSignal, { mask }: Mask): BackgroundCallEnd {
  const state = signal.aborted && signal.reason instanceof CallCancelled ? 'cancelled' : 'failed'
  const message = mask(messageOf(error)).slice(0, AGENT_LIMITS.backgroundMessageChars)
  return { state, ...NO_RESULT, is_error: state === 'failed', message: state === 'cancelled' ? '' : message }
}
