import type { Settings } from '../config/setting.ts'

/** Everything a gateway process needs to know. It crosses stdin as one line of JSON, because argv and env can be seen by others. */
export interface GatewayPlan {
  readonly settings: Settings
  readonly cwd: string
}

/** What is said when it serves. Names as in `parley up --json`. */
export interface Ready {
  readonly url: string
  readonly mcp: string
  readonly ws: string
  /** A one-time link for the first admin, while that account has no password. */
  readonly sign_in: string | null
  /** The name of that account; `null` when no admin can sign in. */
  readonly admin: string | null
  readonly data: string
}

/** Both ends are of one version and trust each other: whoever starts a process can do anything to it anyway. */
export function parsePlan(line: string): GatewayPlan {
  const value: unknown = JSON.parse(line)
  if (isPlan(value)) return value
  throw new TypeError('not a plan')
}

function isPlan(value: unknown): value is GatewayPlan {
  return typeof value === 'object' && value !== null && 'settings' in value && 'cwd' in value
}

export function isGatewayReady(value: unknown): value is Ready {
  return typeof value === 'object' && value !== null && 'url' in value && 'mcp' in value && 'ws' in value
}
