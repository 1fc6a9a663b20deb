import {
  type CodexVersion,
  NEWEST_KNOWN,
  OLDEST_SUPPORTED,
  SUPPORTED_RANGE,
  compareReleases,
  isWithin,
  knownVersion,
  parseVersion,
} from './version.ts'

/** What can be done with a version: go on, go on and say that it is unknown, or refuse. */
export type VersionSupport =
  | { readonly kind: 'supported'; readonly version: CodexVersion; readonly known: true }
  | { readonly kind: 'supported'; readonly version: CodexVersion; readonly known: false; readonly note: string }
  | { readonly kind: 'too-old'; readonly version: CodexVersion; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }

/** Judges what `codex --version` printed, or a version that somebody named. */
export function supportOf(text: string): VersionSupport {
  const version = parseVersion(text)
  if (version === undefined) {
    const shown = JSON.stringify(text.trim().slice(0, 80))
    return { kind: 'unreadable', message: `${shown} is no version of Codex; one looks like 0.44.0 or codex-cli 0.44.0` }
  }
  if (!isWithin(version, OLDEST_SUPPORTED, null))
    return { kind: 'too-old', version, message: `Codex ${version.text} is not supported; supported: ${SUPPORTED_RANGE}` }
  if (compareReleases(version, knownVersion(NEWEST_KNOWN)) <= 0) return { kind: 'supported', version, known: true }
  const note = `Codex ${version.text} is newer than ${NEWEST_KNOWN}, the newest that was recorded: it is probed and used as it answers`
  return { kind: 'supported', version, known: false, note }
}

/** Where one version serves what, as arguments of the `codex` command; null is nowhere. */
export interface Serves {
  readonly from: string
  /** The last version of the row; null is still so. */
  readonly to: string | null
  /** The tools `codex` and `codex-reply` over MCP. */
  readonly mcpServer: readonly string[] | null
  /** Methods by name: the 23 old ones (`v1`), or threads and turns (`v2`). */
  readonly appServer: readonly string[]
  readonly methods: 'v1' | 'v2'
  readonly bridge: 'mcp' | 'v1' | 'v2'
  /** Whether messages of the method server carry `"jsonrpc": "2.0"`. */
  readonly jsonrpc: boolean
}

/** Measured on the binaries: which subcommand of which version speaks what. */
export const SERVES: readonly Serves[] = [
  { from: '0.42.0', to: '0.42', mcpServer: ['mcp'], appServer: ['mcp'], methods: 'v1', bridge: 'mcp', jsonrpc: true },
  {
    from: '0.43.0',
    to: '0.107',
    mcpServer: ['mcp-server'],
    appServer: ['app-server'],
    methods: 'v1',
    bridge: 'v1',
    jsonrpc: false,
  },
  {
    from: '0.108.0',
    to: '0.153',
    mcpServer: ['mcp-server'],
    appServer: ['app-server'],
    methods: 'v2',
    bridge: 'v2',
    jsonrpc: false,
  },
  { from: '0.154.0', to: null, mcpServer: null, appServer: ['app-server'], methods: 'v2', bridge: 'v2', jsonrpc: false },
]

/** The row for a version; undefined for one that is too old. */
export function servesOf(version: CodexVersion): Serves | undefined {
  return SERVES.find(({ from, to }) => isWithin(version, from, to))
}
