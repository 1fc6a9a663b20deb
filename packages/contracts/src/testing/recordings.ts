import { readFileSync, readdirSync } from 'node:fs'
import { type AnsweredRequest, type Notice, exchangesOf, noticesOf, parseRecording } from './traffic.ts'
import { registry } from '../registry/registry.ts'
import {
  type ContractName,
  OBSERVED_VERSIONS,
  type ObservedContract,
  type ObservedVersion,
  type RecordedLine,
} from '../registry/registry-types.ts'

const FOLDER = new URL('../../contracts/recordings/', import.meta.url)

/** The lines of one recording. */
export function recordingOf(version: ObservedVersion, scenario: string): readonly RecordedLine[] {
  return parseRecording(readFileSync(new URL(`${version}/${scenario}.jsonl`, FOLDER), 'utf8')).lines
}

/** What was recorded from the servers of the 23 methods of one version. */
export interface RecordedTraffic {
  readonly exchanges: readonly AnsweredRequest[]
  readonly notices: readonly Notice[]
}

const read = new Map<string, RecordedTraffic>()

/** `tools`: from its MCP server instead. */
export function trafficOf(version: ObservedVersion, kind: 'methods' | 'tools' = 'methods'): RecordedTraffic {
  const known = read.get(`${version} ${kind}`)
  if (known !== undefined) return known
  const folder = new URL(`${version}/`, FOLDER)
  const files = readdirSync(folder).filter((name) => name.startsWith('tool-') === (kind === 'tools'))
  const lines = files.toSorted().map((name) => parseRecording(readFileSync(new URL(name, folder), 'utf8')).lines)
  const traffic = { exchanges: lines.flatMap(exchangesOf), notices: lines.flatMap(noticesOf) }
  read.set(`${version} ${kind}`, traffic)
  return traffic
}

/** The recorded requests of one method, told apart by what became of them, and the params of its notifications. */
export interface Seen {
  readonly contract: ObservedContract
  /** Understood, whether they could be done or not. */
  readonly understood: readonly AnsweredRequest[]
  /** Not understood: an error that says so, or no answer. */
  readonly refused: readonly AnsweredRequest[]
  readonly results: readonly AnsweredRequest[]
  readonly notices: readonly Notice[]
}

export function seen(name: ContractName, version: ObservedVersion): Seen {
  return seenIn(trafficOf(version), name, version)
}

/** The same of any traffic, beside the contract of a version. */
export function seenIn(traffic: RecordedTraffic, name: ContractName, version: ObservedVersion): Seen {
  const contract = registry.observed(name, version)
  const exchanges = traffic.exchanges.filter(({ method }) => method === contract.method)
  const refused = exchanges.filter((exchange) => isRefused(exchange))
  return {
    contract,
    understood: exchanges.filter((exchange) => !refused.includes(exchange)),
    refused,
    results: exchanges.filter(({ result }) => result !== undefined),
    notices: traffic.notices.filter(({ method }) => registry.find(method) === name),
  }
}

/** An idle conversation is the one thing that real Codex understands and never answers. */
function isRefused({ from, method, params, result, error }: AnsweredRequest): boolean {
  if (from === 'server' || result !== undefined) return false
  if (error === undefined) return !(method === 'interruptConversation' && JSON.stringify(params).includes('conversationId'))
  const { message } = error
  return typeof message === 'string' && message.startsWith('Invalid request')
}

/** The versions in which a method or notification is, or is not. */
export function versionsOf(name: ContractName, present = true): readonly ObservedVersion[] {
  return OBSERVED_VERSIONS.filter((version) => registry.observed(name, version).present === present)
}
