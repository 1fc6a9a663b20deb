import type { QuotaBook } from '@parley/models'
import type { OneTimeLinks } from '../auth/one-time-link.ts'
import type { Passwords } from '../auth/password.ts'
import type { SignInLimit } from '../limit/sign-in-limit.ts'
import { type ToolContext, type ToolWorld, serving } from '../tool/served-tool.ts'

/** What the tools of accounts, tokens and the audit log work with. */
export interface AccountWorld extends ToolWorld {
  readonly links: OneTimeLinks
  readonly passwords: Passwords
  readonly signInLimit: SignInLimit
  readonly quotas: QuotaBook
}

export type AccountContext = ToolContext<AccountWorld>
export const serveTool = serving<AccountWorld>()
