/** What a user agent says beside the client's own name. */
export interface UserAgentFacts {
  /** System and machine, as in `Debian 12.0.0; x86_64`. */
  readonly platform: string
  /** As in `xterm`. */
  readonly terminal: string
  /** Ours, as in `parley/0.1.0`. */
  readonly product: string
}

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
