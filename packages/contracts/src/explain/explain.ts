import type { JsonObject } from '@parley/protocol'
import { checkParams } from '../params/param-check.ts'
import { type Registry, basisOf, registry } from '../registry/registry.ts'
import type { ContractName, ObservedContract } from '../registry/registry-types.ts'
import { misfits } from '../registry/schema-check.ts'
import type { CodexVersion } from '../version/version.ts'
import { servesOf, supportOf } from '../version/version-support.ts'
import { explainTool } from './explain-tool.ts'
import { fillIn } from './fill-in.ts'
import type { AskedRequest } from './read-request.ts'
import { reshapeAnswer, reshapeParams } from './reshape.ts'
import type { Rewrite } from './step.ts'
import { SUCCESSORS } from './threads.ts'

/** Why a request cannot be served, and what to do about it. */
export interface Refusal {
  readonly code: 'unsupported_version' | 'unknown_method' | 'absent_method' | 'lacking_param' | 'bad_params'
  readonly field: string | null
  readonly message: string
  readonly change: string
}

/** What becomes of a request on a version of Codex behind `parley app-server`. */
export interface Explanation {
  readonly method: string
  readonly codexVersion: string
  /** The recorded version that this follows; null where nothing is known. */
  readonly basis: string | null
  readonly verdict: 'accepted' | 'translated' | 'refused'
  readonly steps: readonly Rewrite[]
  readonly refusals: readonly Refusal[]
  /** What Codex is sent in the end; null when nothing is. */
  readonly sent: { readonly method: string; readonly params?: JsonObject; readonly result?: JsonObject } | null
  readonly notes: readonly string[]
}

/** Measured on the newer app-servers: a profile that comes with a thread is an error, also as a setting. */
const NO_PROFILE: Refusal = {
  code: 'lacking_param',
  field: 'params.profile',
  message: 'params.profile is refused by this version: a profile is chosen when Codex is started',
  change: 'leave profile out, or start Codex with --profile',
}

/** The dialect whose shapes hold for a method that newer versions have no more. */
const OLD_SHAPES = '0.44.0'

/** Says what becomes of a request on a version. Never throws for what somebody sent. */
export function explain(asked: AskedRequest, versionText: string, contracts: Registry = registry): Explanation {
  const support = supportOf(versionText)
  if (support.kind !== 'supported') {
    const refusal = {
      code: 'unsupported_version',
      field: null,
      message: support.message,
      change: 'use a supported version',
    } as const
    return { ...blank(asked, support.kind === 'too-old' ? support.version.text : versionText), refusals: [refusal] }
  }
  const { version } = support
  const basis = basisOf(version)
  const notes = support.known ? [] : [support.note]
  if (basis !== undefined && !basis.exact) notes.push(`Codex ${version.text} was not recorded; this follows ${basis.version}`)
  const start = { ...blank(asked, version.text), basis: basis?.version ?? null, notes }
  if (asked.method === 'tools/call') return explainTool(asked, version, start)
  const name = contracts.find(asked.method)
  if (name === undefined || basis === undefined) return unknownMethod(asked, version, start, contracts)
  const observed = contracts.observed(name, basis.version)
  if (asked.answer !== undefined) return explainAnswer(asked.answer, name, observed, start, contracts)
  return explainParams(asked, name, observed, version, start, contracts)
}

function explainParams(
  asked: AskedRequest,
  name: ContractName,
  observed: ObservedContract,
  version: CodexVersion,
  start: Explanation,
  contracts: Registry,
): Explanation {
  const successor = observed.present ? undefined : SUCCESSORS[name]
  const isV2 = servesOf(version)?.methods === 'v2'
  if (!observed.present && (!isV2 || successor === undefined)) return absentMethod(name, observed, start, contracts)
  const shapes = observed.present ? observed : contracts.observed(name, OLD_SHAPES)
  const filled = fillIn(name, asked.params)
  const casing = start.basis === '0.42.0' ? 'snake' : 'camel'
  const { value: params, steps } = reshapeParams(name, filled.params, casing)
  const gates = checkParams(asked.method, params, version, 'wire', contracts).problems
  const lacking = gates.filter(({ severity }) => severity === 'error')
  const wrong = misfits(shapes.request ?? {}, params).filter(({ field }) => !filled.later.includes(field))
  const refusals: Refusal[] = [
    ...lacking.map(({ param, message }): Refusal => {
      return {
        code: 'lacking_param',
        field: `params.${param}`,
        message,
        change: `leave ${param} out, or use a version that has it`,
      }
    }),
    ...wrong.map(({ field, message }): Refusal => {
      const at = field === '' ? 'params' : `params.${field}`
      return {
        code: 'bad_params',
        field: at,
        message: `${at} ${message}`,
        change: `parley contracts show ${start.method} says what it takes`,
      }
    }),
  ]
  if (successor !== undefined && params['profile'] !== undefined && params['profile'] !== null) refusals.push(NO_PROFILE)
  const notes = [
    ...start.notes,
    ...gates.filter(({ severity }) => severity === 'warning').map(({ message }) => message),
    ...ignored(name, params, shapes, contracts),
  ]
  const allSteps = [...filled.steps, ...steps]
  if (refusals.length > 0) return { ...start, verdict: 'refused', steps: allSteps, refusals, notes }
  if (successor === undefined) {
    const sent = { method: asked.method, ...(asked.params === undefined && filled.steps.length === 0 ? {} : { params }) }
    return { ...start, verdict: allSteps.length === 0 ? 'accepted' : 'translated', steps: allSteps, sent, notes }
  }
  const to = successor.method ?? 'nothing is sent'
  const moved: Rewrite = { field: 'method', from: asked.method, to, why: successor.note }
  const later = successor.params?.(params)
  const sent = successor.method === null ? null : { method: successor.method, ...(later === undefined ? {} : { params: later }) }
  return { ...start, verdict: 'translated', steps: [...allSteps, moved], sent, notes: [...notes, unaided(observed)] }
}

function explainAnswer(
  answer: JsonObject,
  name: ContractName,
  observed: ObservedContract,
  start: Explanation,
  contracts: Registry,
): Explanation {
  const shapes = observed.present ? observed : contracts.observed(name, OLD_SHAPES)
  if (shapes.kind !== 'server-request') {
    const message = `${start.method} is no request of Codex to its client, so there is nothing to answer`
    const refusal: Refusal = { code: 'bad_params', field: 'result', message, change: 'send params instead of a result' }
    return { ...start, refusals: [refusal] }
  }
  const { value: result, steps } = reshapeAnswer(answer)
  const wrong = misfits(shapes.response ?? {}, result)
  const refusals = wrong.map(({ field, message }): Refusal => {
    const change = 'a decision is approved, approved_for_session, denied or abort; what cannot be read is denied'
    return { code: 'bad_params', field: `result.${field}`, message: `result.${field} ${message}`, change }
  })
  if (refusals.length > 0) return { ...start, steps, refusals }
  return { ...start, verdict: steps.length === 0 ? 'accepted' : 'translated', steps, sent: { method: start.method, result } }
}

function absentMethod(name: ContractName, observed: ObservedContract, start: Explanation, contracts: Registry): Explanation {
  const { minVersion, maxVersion } = contracts.declared(name)
  const first = contracts.observed(name, OLD_SHAPES).present ? OLD_SHAPES : minVersion
  const change = `use Codex ${first}${maxVersion === null ? ' or newer' : ` to ${maxVersion}`}, or do without it`
  const message = `Codex ${start.codexVersion} has no ${start.method}`
  const refusal: Refusal = { code: 'absent_method', field: 'method', message, change }
  return { ...start, refusals: [refusal], notes: [...start.notes, unaided(observed)] }
}

function unknownMethod(
  { method, params }: AskedRequest,
  version: CodexVersion,
  start: Explanation,
  contracts: Registry,
): Explanation {
  const old = Object.entries(SUCCESSORS).find(([, successor]) => successor.method === method)?.[0]
  if (old !== undefined && servesOf(version)?.methods === 'v2') {
    const notes = [...start.notes, `${method} belongs to the newer app-server; it goes to Codex as it is and is not checked here`]
    return { ...start, verdict: 'accepted', notes, sent: { method, ...(params === undefined ? {} : { params }) } }
  }
  const near = old ?? contracts.names.find((name) => name.toLowerCase() === method.toLowerCase().replaceAll(/[_-]/g, ''))
  const change = near === undefined ? 'parley contracts list has all that there are' : `use ${near}`
  const message = `Codex ${version.text} has no method ${JSON.stringify(method.slice(0, 80))}`
  return { ...start, refusals: [{ code: 'unknown_method', field: 'method', message, change }] }
}

/** What the documents declare and no real version reads. */
function ignored(name: ContractName, params: JsonObject, shapes: ObservedContract, contracts: Registry): readonly string[] {
  const known = Object.keys(shapes.request?.['properties'] ?? {})
  const declared = Object.keys(contracts.declared(name).request['properties'] ?? {})
  return Object.keys(params)
    .filter((param) => declared.includes(param) && !known.includes(param))
    .map((param) => `params.${param} is declared and Codex does not read it: it has no effect`)
}

function unaided({ absent, version, method }: ObservedContract): string {
  const answer = absent?.answer === 'error' ? `answers ${absent.code ?? 'an error'}` : 'answers nothing'
  return `by itself Codex ${version} ${answer} to ${method}`
}

function blank(asked: AskedRequest, codexVersion: string): Explanation {
  return { method: asked.method, codexVersion, basis: null, verdict: 'refused', steps: [], refusals: [], sent: null, notes: [] }
}
