import type { ContractName } from '../../src/contract/registry-types.ts'
import { registry } from '../../src/contract/registry.ts'
import { APP_DIALECTS, type AppDialect } from '../../src/server/app/app-server-options.ts'
import { noticeFaults } from './checks.ts'
import { misfits } from './fits.ts'
import { liveAnswers } from './live-answers.ts'
import { type RecordedTraffic, seenIn } from './recordings.ts'

/** Our own engine has no ChatGPT account to sign in to: it says so, and nothing completes. */
const REFUSED_BY_MINI: readonly ContractName[] = ['loginChatGpt', 'cancelLoginChatGpt']
const NEVER_ON_MINI: readonly ContractName[] = ['loginChatGptComplete']

export interface LiveCheck {
  readonly what: string
  readonly wrong: () => Promise<readonly string[]>
}

export interface LiveChecks {
  readonly dialect: AppDialect
  readonly checks: readonly LiveCheck[]
}

/** Our own server against what the real one of its dialect was observed to do. */
export function liveChecks(name: ContractName): readonly LiveChecks[] {
  return APP_DIALECTS.filter((dialect) => isServed(name, dialect)).map((dialect) => {
    const wrong = async (): Promise<readonly string[]> => liveFaults(await liveAnswers(dialect), name, dialect)
    return { dialect, checks: [{ what: 'as the real one does', wrong }] }
  })
}

/** Whether the dialect has it and our own engine can do it. */
export function isServed(name: ContractName, dialect: AppDialect): boolean {
  return registry.observed(name, `${dialect}.0`).present && !NEVER_ON_MINI.includes(name)
}

export function liveFaults(traffic: RecordedTraffic, name: ContractName, dialect: AppDialect): readonly string[] {
  const found = seenIn(traffic, name, `${dialect}.0`)
  const { contract, understood, results, notices } = found
  const { kind, request = {}, response = {} } = contract
  if (kind === 'notification')
    return notices.length === 0 ? [`${name} never came`] : notices.flatMap((notice) => noticeFaults(found, notice))
  if (kind === 'server-request')
    return understood.length === 0
      ? [`${name} was never asked`]
      : understood.flatMap(({ params, line }) => misfits(request, params ?? null, `${name} in line ${line}`))
  if (REFUSED_BY_MINI.includes(name))
    return understood.some(({ error }) => error !== undefined) ? [] : [`${name} was not refused with a reason of its own`]
  if (results.length === 0) return [`${name} was never answered`]
  return results.flatMap(({ result, line }) => misfits(response, result, `${name} in line ${line}`))
}
