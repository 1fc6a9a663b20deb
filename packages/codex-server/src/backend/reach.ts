import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Reach } from '@parley/agent'
import type { SandboxMode } from '@parley/codex/port'

/** How far a command of our own engine reaches, by Codex's word for it. */
export const REACH: Readonly<Record<SandboxMode, Reach>> = {
  'read-only': 'read-only',
  'workspace-write': 'workspace-write',
  'danger-full-access': 'full-access',
}

/** Where a folder is without links: what a conversation is opened in stays that, whatever a link on the way leads to later. */
export function unlinked(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    // Whoever works in what is no folder hears so from each tool.
    return resolve(folder)
  }
}
