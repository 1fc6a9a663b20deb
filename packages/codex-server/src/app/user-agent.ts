import type { AppDialect, UserAgentFacts } from './app-server-options.ts'

/** The version that clients of a dialect look for. */
export const DIALECT_VERSION: Record<AppDialect, string> = { '0.42': '0.42.0', '0.44': '0.44.0' }

export interface ClientInfo {
  readonly name: string
  readonly version: string
}

/** In Codex's form: clients read the version of the dialect out of it. Ours stands behind. */
export function userAgent(dialect: AppDialect, { platform, terminal, product }: UserAgentFacts, client?: ClientInfo): string {
  const base = `codex_cli_rs/${DIALECT_VERSION[dialect]} (${platform}) ${terminal} ${product}`
  return printable(client === undefined ? base : `${base} (${client.name}; ${client.version})`)
}

/** Line ends and the like have no place in what becomes a header. */
const printable = (text: string): string => text.replaceAll(/[^\u{20}-\u{7e}\u{a0}-\u{10ffff}]/gu, '_')
