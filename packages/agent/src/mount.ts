import type { Client, ClientTransport } from '@parley/rpc'

/** Where a mounted MCP server is. `linked` is one in this process. */
export type MountServer =
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly folder?: string
      /** The id of an environment of the configuration that it runs in; left out, it runs here. */
      readonly environment?: string
    }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'linked'; readonly open: () => ClientTransport }

/** An MCP server whose tools a conversation may call. */
export interface MountSpec {
  /** `[a-z][a-z0-9-]*`: the model sees `{name}_{tool}`. */
  readonly name: string
  readonly server: MountServer
  /** True: the model sees the tools by the names that the server gives, which keeps its own apart. */
  readonly plain?: boolean
  /** One that cannot be reached fails the turn; any other is left out with a warning. */
  readonly required: boolean
  readonly toolTimeoutMs?: number
}

/** Connects to a mounted server: processes and sockets are not the engine's own to open. */
export type ConnectMount = (mount: MountSpec, signal: AbortSignal) => Promise<Client>
