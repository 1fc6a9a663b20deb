import { type OneTimeLinks, type Passwords, serving, type SignInLimit, type ToolContext, type ToolWorld } from '@parley/access'
import type { QuotaBook } from '@parley/models'

/** What the tools of accounts, tokens and the audit log work with. */
export interface AccountWorld extends ToolWorld {
  readonly links: OneTimeLinks
  readonly passwords: Passwords
  readonly signInLimit: SignInLimit
  readonly quotas: QuotaBook
}

export type AccountContext = ToolContext<AccountWorld>
export const serveTool = serving<AccountWorld>()
