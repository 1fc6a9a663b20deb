import type { Bridge } from '@parley/codex'
import { checkConfig } from '@parley/contracts/params'
import { parseVersion } from '@parley/contracts/version'
import type { OpenOrder } from '@parley/codex/port'
import type { Account, Backend, ConversationShelf, SavedSettings, Workspace } from '../backend.ts'
import { diffToRemote } from '../workspace/diff-to-remote.ts'
import type { OpenGit } from '../workspace/run-program.ts'
import { oldServices } from './old-services.ts'
import { newServices } from './new-services.ts'

export interface CodexBackendOptions {
  /** One that runs; it is closed with the backend. */
  readonly bridge: Bridge
  readonly now: () => number
  /** Where Codex has its configuration: read where Codex itself refuses to. */
  readonly codexHome?: string
  /** For the diff to a remote: Codex's own git runs what a hostile repository names (filters, `ext::` remotes). Left out: Codex is asked. */
  readonly git?: OpenGit
  /** Of what was left out. */
  readonly warn?: (message: string) => void
}

/** What a real Codex does beside conversations. */
export interface CodexServices {
  readonly conversations: ConversationShelf
  readonly settings: SavedSettings
  readonly account: Account
  readonly workspace: Workspace
  /** Nobody waits for a sign-in any more. */
  close(): void
}

/** A real Codex of any version behind the compatible servers: its work is done by Codex itself, in the user's own home. */
export function openCodexBackend({ bridge, git, warn, ...options }: CodexBackendOptions): Backend {
  const services = bridge.dialect === 'v2' ? newServices(bridge, options) : oldServices(bridge)
  const { conversations, settings, account, workspace } = services
  return {
    engine: 'codex',
    // Asked for anew each time: a Codex that is started again may be another one.
    get version() {
      return bridge.version
    },
    open: (order, listener) => bridge.open(readable(order, bridge.version, warn), listener),
    resume: (which, order, listener) => bridge.resume(which, readable(order, bridge.version, warn), listener),
    conversations,
    settings,
    account,
    workspace: git === undefined ? workspace : { ...workspace, diffToRemote: (folder) => diffToRemote(folder, git) },
    close: async () => {
      services.close()
      await bridge.close()
    },
  }
}

/** The order without settings that this version does not read; one would stop the conversation. */
function readable(order: OpenOrder, version: string, warn: CodexBackendOptions['warn']): OpenOrder {
  const known = parseVersion(version)
  if (order.config === undefined || known === undefined) return order
  // A profile is told in words of the version.
  const { profile, ...rest } = order.config
  const { params, problems } = checkConfig(rest, known, 'config')
  if (problems.length === 0) return order
  for (const { message } of problems) warn?.(`config: ${message}`)
  return { ...order, config: { ...params, ...(profile === undefined ? {} : { profile }) } }
}
