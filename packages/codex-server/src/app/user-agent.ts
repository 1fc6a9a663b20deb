import type { UserAgentFacts } from './app-server-options.ts'

export interface ClientInfo {
  readonly name: string
  readonly version: string
}

/** In Codex's form: clients read the version of the dialect out of it. Ours stands behind. */
export function userAgent(version: string, { platform, terminal, product }: UserAgentFacts, client?: ClientInfo): string {
  const base = `codex_cli_rs/${version} (${platform}) ${terminal} ${product}`
  return printable(client === undefined ? base : `${base} (${client.name}; ${client.version})`)
}

/** Line ends and the like have no place in what becomes a header. */
const printable = (text: string): string => text.replaceAll(/[^\u{20}-\u{7e}\u{a0}-\u{10ffff}]/gu, '_')
