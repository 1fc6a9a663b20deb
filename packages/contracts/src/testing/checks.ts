import { type JsonValue, isJsonObject } from '@parley/protocol'
import type { AnsweredRequest, Notice } from './traffic.ts'
import { registry } from '../registry/registry.ts'
import type { ContractName, ObservedVersion } from '../registry/registry-types.ts'
import { fits, misfits } from './fits.ts'
import { type Seen, seen, trafficOf, versionsOf } from './recordings.ts'

/** One thing to look at. `wrong` says what is; nothing is well. */
export interface Check {
  readonly what: string
  readonly wrong: () => readonly string[]
}

export interface VersionChecks {
  readonly version: ObservedVersion
  readonly checks: readonly Check[]
}

/** What was recorded from each version that has the method or notification, against what its observed layer says. */
export function observedChecks(name: ContractName): readonly VersionChecks[] {
  return versionsOf(name).map((version) => {
    const found = seen(name, version)
    const { kind } = found.contract
    if (kind === 'request') return { version, checks: [...requestChecks(found), declaredCheck(name, version, found)] }
    if (kind === 'server-request') return { version, checks: [...approvalChecks(found), declaredCheck(name, version, found)] }
    return { version, checks: [...noticeChecks(found), declaredCheck(name, version, found)] }
  })
}

/** What a client gets from the versions that do not have it. */
export function absentChecks(name: ContractName): readonly VersionChecks[] {
  return versionsOf(name, false).map((version) => ({ version, checks: [absentCheck(name, version)] }))
}

function requestChecks({ contract, understood, refused, results }: Seen): readonly Check[] {
  const { request = {}, response = {}, errors = [] } = contract
  const checks: Check[] = [
    {
      what: 'took these requests',
      wrong: () => [...none(understood), ...understood.flatMap((one) => misfits(request, one.params ?? null, at(one)))],
    },
    {
      what: 'answered like this',
      wrong: () => [...none(results), ...results.flatMap((one) => misfits(response, one.result, at(one)))],
    },
    {
      what: 'failed only in ways that are listed',
      wrong: () =>
        [...understood, ...refused].flatMap((one) => {
          if (one.result !== undefined) return []
          const isListed = errors.some(({ answer, code, message = '' }) =>
            one.error === undefined
              ? answer === 'silence'
              : answer === 'error' && code === one.error['code'] && new RegExp(message).test(textOf(one.error['message'])),
          )
          return isListed ? [] : [`${at(one)}: ${JSON.stringify(one.error)} is not listed`]
        }),
    },
  ]
  if (refused.length === 0) return checks
  const wrong = (): string[] => refused.flatMap((one) => (fits(request, one.params ?? null) ? [`${at(one)} was refused`] : []))
  return [...checks, { what: 'could not read these requests', wrong }]
}

function approvalChecks({ contract, understood }: Seen): readonly Check[] {
  const { request = {}, response = {} } = contract
  const decisionOf = ({ result }: AnsweredRequest): JsonValue | undefined =>
    isJsonObject(result) ? result['decision'] : undefined
  const isDeclared = (one: AnsweredRequest): boolean => ['allow', 'deny'].includes(textOf(decisionOf(one)))
  return [
    {
      what: 'asked like this',
      wrong: () => [...none(understood), ...understood.flatMap((one) => misfits(request, one.params ?? null, at(one)))],
    },
    {
      what: 'was answered with each of its decisions',
      wrong: () => {
        const given = new Set(understood.filter((one) => !isDeclared(one)).map(decisionOf))
        const all = ['approved', 'approved_for_session', 'denied', 'abort']
        const missing = all.filter((decision) => !given.has(decision)).map((decision) => `${decision} was not recorded`)
        return [
          ...missing,
          ...understood.filter((one) => !isDeclared(one)).flatMap((one) => misfits(response, one.result, at(one))),
        ]
      },
    },
    {
      what: 'knows neither of the declared decisions',
      wrong: () => {
        const declared = understood.filter(isDeclared)
        return [...none(declared), ...declared.flatMap((one) => (fits(response, one.result) ? [`${at(one)} fits`] : []))]
      },
    },
  ]
}

function noticeChecks(found: Seen): readonly Check[] {
  const { notices } = found
  return [{ what: 'said this', wrong: () => [...none(notices), ...notices.flatMap((one) => noticeFaults(found, one))] }]
}

/** An event is looked at twice: what is around it, and itself by its type. */
export function noticeFaults({ contract }: Pick<Seen, 'contract'>, notice: Notice): readonly string[] {
  const where = `${notice.method} in line ${notice.line}`
  const { events, request = {}, toolCall = {} } = contract
  const isPlain = notice.method === 'codex/event'
  const outer = misfits(isPlain ? toolCall : request, notice.params ?? null, where)
  if (events === undefined) return outer
  const msg = isJsonObject(notice.params) ? notice.params['msg'] : undefined
  const type = isJsonObject(msg) ? textOf(msg['type']) : ''
  if (!isPlain && notice.method !== `codex/event/${type}`) return [`${where} holds ${type}`]
  const schema = events[type]
  return schema === undefined ? [...outer, `${where}: there is no event ${type}`] : [...outer, ...misfits(schema, msg, where)]
}

/** What the declared layer would not take must stand among the differences, or it was overlooked. */
function declaredCheck(name: ContractName, version: ObservedVersion, found: Seen): Check {
  const declared = registry.declared(name)
  const listed = (place: RegExp): boolean =>
    registry.differences(name).some(({ versions, where }) => versions.includes(version) && place.test(where))
  const overlooked = (
    place: RegExp,
    what: string,
    values: readonly (JsonValue | undefined)[],
    schema: JsonSchemaLike,
  ): string[] =>
    values.some((value) => !fits(schema, value)) && !listed(place) ? [`a ${what} does not fit what is declared`] : []
  const asked = found.contract.kind === 'notification' ? found.notices : found.understood
  const decisions = found.results.map(({ result }) => result)
  return {
    what: 'parts from what is declared only where that is listed',
    wrong: () => [
      ...overlooked(
        /^(request|event|gate)/,
        'request',
        asked.map(({ params }) => params ?? {}),
        declared.request,
      ),
      ...overlooked(/^(response|gate)/, 'response', decisions, declared.response),
    ],
  }
}

function absentCheck(name: ContractName, version: ObservedVersion): Check {
  const { contract, understood, refused, results, notices } = seen(name, version)
  const { kind, absent } = contract
  if (kind !== 'request' || absent === undefined)
    return { what: 'never said it', wrong: () => [...understood.map(at), ...notices.map(({ line }) => `line ${line}`)] }
  const asked = [...understood, ...refused].filter(({ error }) => error?.['message'] !== 'Not initialized')
  return {
    what: `met it with ${absent.answer === 'silence' ? 'silence' : 'an error'}`,
    wrong: () => [
      ...none(asked),
      ...results.map((one) => `${at(one)} was answered`),
      ...asked.flatMap((one) => {
        if (absent.answer === 'silence') return one.error === undefined ? [] : [`${at(one)} was answered`]
        const isAsSaid =
          one.error?.['code'] === absent.code && new RegExp(absent.message ?? '').test(textOf(one.error?.['message']))
        return isAsSaid ? [] : [`${at(one)}: ${JSON.stringify(one.error)}`]
      }),
    ],
  }
}

/** The plain `codex/event` of calls of the `codex` tool. */
export function toolCallFaults(version: ObservedVersion): readonly string[] {
  const contract = registry.observed('codex-event', version)
  const notices = trafficOf(version, 'tools').notices.filter(({ method }) => method === 'codex/event')
  return [...none(notices), ...notices.flatMap((notice) => noticeFaults({ contract }, notice))]
}

type JsonSchemaLike = Parameters<typeof fits>[0]

const at = ({ method, params, line }: AnsweredRequest): string =>
  `${method} ${JSON.stringify(params)?.slice(0, 120)} in line ${line}`
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
const none = (all: readonly unknown[]): readonly string[] => (all.length === 0 ? ['nothing was recorded'] : [])
