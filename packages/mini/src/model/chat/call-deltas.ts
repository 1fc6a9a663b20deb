import { type JsonObject, isJsonObject } from '@parley/protocol'
import type { ModelItem } from '../model.ts'

interface OpenCall {
  id: string
  name: string
  arguments: string
  extra: JsonObject
}

/** Function calls put together from their deltas. Providers differ in what they leave out and what they repeat. */
export class CallDeltas {
  readonly #calls: OpenCall[] = []
  readonly #byIndex = new Map<number, OpenCall>()

  get size(): number {
    return this.#calls.length
  }

  /** Takes one entry of `tool_calls`; answers how many bytes the model said with it. */
  add(delta: JsonObject, position: number): number {
    const { index: given, id, type: _type, function: called, ...extra } = delta
    const index = typeof given === 'number' ? given : position
    const callId = typeof id === 'string' ? id : ''
    const part = isJsonObject(called) ? called : {}
    const call = this.#callAt(index, callId, typeof given !== 'number')
    const name = typeof part['name'] === 'string' ? part['name'] : ''
    if (call.id === '') call.id = callId
    if (call.name === '') call.name = name
    const args = part['arguments']
    const text = typeof args === 'string' ? args : isJsonObject(args) ? JSON.stringify(args) : ''
    call.arguments += text
    Object.assign(call.extra, extra)
    return Buffer.byteLength(text) + Buffer.byteLength(name)
  }

  /** `undefined`: one has no name, so nobody can know what was meant. */
  items(makeId: (prefix: string) => string): readonly ModelItem[] | undefined {
    if (this.#calls.some(({ name }) => name === '')) return undefined
    return this.#calls.map(({ id, name, arguments: args, extra }) => ({
      type: 'function_call',
      call_id: id === '' ? makeId('call') : id,
      name,
      // A function without parameters is often called with nothing at all.
      arguments: args === '' ? '{}' : args,
      ...(Object.keys(extra).length === 0 ? {} : { chat: { call: extra } }),
    }))
  }

  #callAt(index: number, id: string, isUnnumbered: boolean): OpenCall {
    const open = this.#byIndex.get(index)
    // Some number every call 0, or none, and tell them apart by their ids.
    const isOther = open !== undefined && id !== '' && open.id !== '' && open.id !== id
    if (open !== undefined && !isOther) return open
    const known = isUnnumbered && id !== '' ? this.#calls.find((call) => call.id === id) : undefined
    const call = known ?? { id: '', name: '', arguments: '', extra: {} }
    if (known === undefined) this.#calls.push(call)
    this.#byIndex.set(index, call)
    return call
  }
}
