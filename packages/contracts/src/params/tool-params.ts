import type { JsonObject, JsonValue } from '@parley/protocol'
import type { ParamVersions } from './param-check.ts'
import { type CodexVersion, isWithin } from '../version/version.ts'

/** Between which versions an argument of a tool was seen; null is no bound. What lies between the two is not measured. */
interface ToolParam {
  readonly tool: 'codex' | 'codex-reply'
  readonly param: string
  /** Only this value of it; left out for the argument as such. */
  readonly value?: string
  /** Versions up to this one lack it, and from `has` on it is there. */
  readonly lacksUntil?: string
  readonly has?: string
  /** Up to this version it is there, and from `lacksFrom` on it is not. */
  readonly hadUntil?: string
  readonly lacksFrom?: string
}

/** As `tools/list` and the answers of 0.42.0, 0.44.0, 0.45.0, 0.140.0 and 0.153.4 say. Every other argument is in all of them. */
export const TOOL_PARAMS: readonly ToolParam[] = [
  { tool: 'codex', param: 'profile', hadUntil: '0.45.0', lacksFrom: '0.140.0' },
  { tool: 'codex', param: 'include-plan-tool', hadUntil: '0.45.0', lacksFrom: '0.140.0' },
  { tool: 'codex', param: 'compact-prompt', lacksUntil: '0.45.0', has: '0.140.0' },
  { tool: 'codex', param: 'developer-instructions', lacksUntil: '0.45.0', has: '0.140.0' },
  { tool: 'codex', param: 'approval-policy', value: 'untrusted', hadUntil: '0.140.0', lacksFrom: '0.153.4' },
  { tool: 'codex', param: 'approval-policy', value: 'on-failure', hadUntil: '0.140.0', lacksFrom: '0.153.4' },
  { tool: 'codex-reply', param: 'threadId', lacksUntil: '0.45.0', has: '0.140.0' },
]

/** The arguments of a tool call that this version lacks. */
export function toolGates(tool: string, args: JsonObject, version: CodexVersion): readonly ParamVersions[] {
  return TOOL_PARAMS.flatMap((row) => {
    const given = args[row.param]
    if (row.tool !== tool || given === undefined || (row.value !== undefined && !isValue(given, row.value))) return []
    const evidence = evidenceFor(row, version)
    if (evidence === undefined) return []
    const value = row.value === undefined ? {} : { value: row.value }
    return [{ param: row.param, ...value, minVersion: row.has ?? null, maxVersion: row.hadUntil ?? null, evidence }]
  })
}

const isValue = (given: JsonValue, value: string): boolean => given === value

function evidenceFor(
  { lacksUntil, has, hadUntil, lacksFrom }: ToolParam,
  version: CodexVersion,
): ParamVersions['evidence'] | undefined {
  if (has !== undefined && lacksUntil !== undefined) {
    if (isWithin(version, has, null)) return undefined
    return isWithin(version, null, lacksUntil) ? 'observed' : 'unmeasured'
  }
  if (hadUntil === undefined || lacksFrom === undefined || isWithin(version, null, hadUntil)) return undefined
  return isWithin(version, lacksFrom, null) ? 'observed' : 'unmeasured'
}
