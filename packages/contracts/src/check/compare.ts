import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { Registry } from '../registry/registry.ts'
import type { ContractName, ObservedContract, ObservedVersion, RecordedLine } from '../registry/registry-types.ts'
import { misfits } from '../registry/schema-check.ts'
import { type MethodVerdict, Tally } from './verdict.ts'

/**
 * `same`: nothing may differ, as for the binary itself. `compatible`: what an old client relies on must be there, as for
 * a server that stands in its place: it may say more in an error, answer what was met with silence, and take more.
 */
export type Measure = 'same' | 'compatible'

/** Compares the traffic of a server with what was observed of a version, method by method. */
export class TrafficComparison {
  readonly #contracts: Registry
  readonly #version: ObservedVersion
  readonly #measure: Measure
  readonly #tallies: ReadonlyMap<ContractName, Tally>
  readonly envelope = new Set<string>()

  constructor(contracts: Registry, version: ObservedVersion, measure: Measure) {
    this.#contracts = contracts
    this.#measure = measure
    this.#version = version
    this.#tallies = new Map(contracts.names.map((name) => [name, new Tally(name)]))
  }

  /**
   * One scenario with ids of its own. Lines are in the normal form of recordings. `isWhole`: it was played to its end.
   * Answers what the server said that it cannot do.
   */
  add(
    lines: readonly RecordedLine[],
    { jsonrpc, isWhole }: { readonly jsonrpc: boolean; readonly isWhole: boolean },
  ): readonly string[] {
    const lacking = new Set<string>()
    const open = new Map<string, { readonly method: string; readonly params: JsonValue | undefined }>()
    for (const { dir, message } of lines) {
      if (!isJsonObject(message)) continue
      const { id, method, params } = message
      if (dir === '>') {
        if (typeof method === 'string' && id !== undefined) open.set(JSON.stringify(id), { method, params })
        continue
      }
      this.#checkEnvelope(message, jsonrpc)
      if (typeof method === 'string') this.#fromServer(method, params, id !== undefined)
      else {
        const asked = open.get(JSON.stringify(id))
        open.delete(JSON.stringify(id))
        if (asked === undefined) continue
        if (this.#isLacking(message['error'])) lacking.add(asked.method)
        this.#answered(asked, message)
      }
    }
    if (isWhole) for (const { method, params } of open.values()) this.#unanswered(method, params)
    return [...lacking]
  }

  /** What did not come because the server cannot do what it comes from, and said so. */
  lacking(method: string, note: string): void {
    this.#tallyOf(method)?.tally.lacking(note)
  }

  /** Something that should have come and did not, by the method it was about. */
  missing(method: string, note: string): void {
    this.#tallyOf(method)?.tally.fault('response', note)
  }

  verdicts(): readonly MethodVerdict[] {
    return [...this.#tallies].map(([name, tally]) => {
      const observed = this.#contracts.observed(name, this.#version)
      if (!observed.present) {
        tally.present ??= false
        return tally.verdict({ verdict: 'ok', note: 'not there, as recorded' })
      }
      if (observed.kind === 'request') return tally.verdict({ verdict: 'untested', note: 'nothing of it was seen' })
      return tally.verdict({ verdict: 'drift', note: 'never came, though the recordings have it' })
    })
  }

  #tallyOf(method: string): { readonly tally: Tally; readonly observed: ObservedContract } | undefined {
    const name = this.#contracts.find(method)
    const tally = name === undefined ? undefined : this.#tallies.get(name)
    if (name === undefined || tally === undefined) return undefined
    return { tally, observed: this.#contracts.observed(name, this.#version) }
  }

  #checkEnvelope(message: JsonObject, jsonrpc: boolean): void {
    if (jsonrpc === (message['jsonrpc'] === '2.0')) return
    this.envelope.add(jsonrpc ? 'messages lack "jsonrpc": "2.0"' : 'messages carry "jsonrpc", which this version does not send')
  }

  #answered(asked: { readonly method: string; readonly params: JsonValue | undefined }, answer: JsonObject): void {
    const found = this.#tallyOf(asked.method)
    if (found === undefined) return
    const { tally, observed } = found
    const { result, error } = answer
    if (!observed.present) {
      if (isJsonObject(error) && fitsError(observed.absent, error)) return absentAsRecorded(tally)
      tally.present = result !== undefined
      return tally.fault('response', `recorded as absent (${expected(observed.absent)}), but ${answerText(answer)}`)
    }
    if (isJsonObject(error)) {
      if (this.#isLacking(error)) return tally.lacking(answerText(answer))
      tally.present ??= true
      if (this.#isKnownError(observed, asked.params, error)) return tally.fine('response')
      return tally.fault(
        acceptedParams(observed, asked.params) ? 'request' : 'response',
        `${answerText(answer)}, which was never recorded`,
      )
    }
    tally.present = true
    if (acceptedParams(observed, asked.params)) tally.fine('request')
    else if (this.#measure === 'same') tally.fault('request', 'takes a request that the recordings refuse')
    const wrong = misfits(observed.response ?? {}, result ?? null)
    if (wrong.length === 0) return tally.fine('response')
    for (const { field, message } of wrong) tally.fault('response', `result${field === '' ? '' : `.${field}`} ${message}`)
  }

  /** A server in the place of Codex may say that it cannot do something; Codex itself never did. */
  #isLacking(error: JsonValue | undefined): boolean {
    if (this.#measure === 'same' || !isJsonObject(error)) return false
    const { data } = error
    return isJsonObject(data) && data['code'] === 'unsupported'
  }

  #isKnownError({ errors = [], request }: ObservedContract, params: JsonValue | undefined, error: JsonObject): boolean {
    if (errors.some((known) => known.answer === 'error' && fitsError(known, error))) return true
    if (this.#measure === 'same') return false
    // Where nothing was answered, any error is better; elsewhere the code is what clients look at.
    const isRefused = request !== undefined && misfits(request, params ?? null).length > 0
    return errors.some(({ answer, code }) => (answer === 'silence' ? isRefused : code === error['code']))
  }

  #unanswered(method: string, params: JsonValue | undefined): void {
    const found = this.#tallyOf(method)
    if (found === undefined) return
    const { tally, observed } = found
    if (!observed.present) {
      if (observed.absent?.answer === 'silence') return absentAsRecorded(tally)
      return tally.fault('response', `recorded as absent (${expected(observed.absent)}), but nothing was answered`)
    }
    const isKnown = observed.errors?.some(({ answer }) => answer === 'silence') === true
    if (isKnown) return tally.fine('response')
    const shown = JSON.stringify(params ?? null).slice(0, 80)
    tally.fault('response', `was not answered with the params ${shown}`)
  }

  #fromServer(method: string, params: JsonValue | undefined, isRequest: boolean): void {
    const found = this.#tallyOf(method)
    if (found === undefined) return
    const { tally, observed } = found
    tally.present = true
    if (!observed.present) return tally.fault('request', 'came, though the recordings do not have it')
    if (isRequest !== (observed.kind === 'server-request'))
      return tally.fault('request', isRequest ? 'came as a request' : 'came as a notification')
    const wrong = observed.events === undefined ? paramsFaults(observed, params) : eventFaults(observed, method, params)
    if (wrong.length === 0) return tally.fine('request')
    for (const note of wrong) tally.fault('request', note)
  }
}

function absentAsRecorded(tally: Tally): void {
  tally.present ??= false
  tally.fine('response')
}

const acceptedParams = ({ request }: ObservedContract, params: JsonValue | undefined): boolean =>
  request === undefined || misfits(request, params ?? {}).length === 0 || misfits(request, params ?? null).length === 0

const paramsFaults = ({ request = {} }: ObservedContract, params: JsonValue | undefined): readonly string[] =>
  misfits(request, params ?? null).map(({ field, message }) => `params${field === '' ? '' : `.${field}`} ${message}`)

/** Events of a conversation have their type in their name; those of a tool call and of 0.42's own have not. */
function eventFaults(observed: ObservedContract, method: string, params: JsonValue | undefined): readonly string[] {
  const message = isJsonObject(params) ? params['msg'] : undefined
  const type = isJsonObject(message) && typeof message['type'] === 'string' ? message['type'] : ''
  const schema = observed.events?.[type]
  const isPlain = method === 'codex/event'
  if (!isPlain && method !== `codex/event/${type}`) return [`${method} carries a message of the type ${JSON.stringify(type)}`]
  if (schema === undefined) return [`an event of the type ${JSON.stringify(type)} came, which was never recorded`]
  const outer = isPlain ? observed.toolCall : observed.request
  return [
    ...(outer === undefined ? [] : misfits(outer, params ?? null)),
    ...misfits(schema, message).map((wrong) => ({ ...wrong, field: `msg.${wrong.field}` })),
  ].map(({ field, message: text }) => `${method}: params.${field} ${text}`)
}

interface ExpectedError {
  readonly code?: number | undefined
  readonly message?: string | undefined
}

function fitsError(known: ExpectedError | undefined, error: JsonObject): boolean {
  if (known === undefined) return false
  const { code, message } = error
  if (known.code !== undefined && known.code !== code) return false
  return known.message === undefined || (typeof message === 'string' && new RegExp(known.message).test(message))
}

function answerText({ result, error }: JsonObject): string {
  if (!isJsonObject(error)) return `answers a result ${JSON.stringify(result ?? null).slice(0, 80)}`
  return `answers the error ${JSON.stringify(error['code'] ?? null)} ${JSON.stringify(error['message'] ?? null).slice(0, 120)}`
}

function expected(absent: (ExpectedError & { readonly answer: string }) | undefined): string {
  return absent?.answer === 'error' ? `error ${absent.code ?? ''}`.trim() : 'no answer'
}
