import { accountGet, accountPasswd } from './account.ts'
import { auditExport, auditSearch } from './audit.ts'
import type { ServedTool } from './served-tool.ts'
import { tokenCreate, tokenList, tokenRevoke } from './token.ts'
import { userAdd, userDisable, userEnable, userLink, userList, userPasswd } from './user.ts'

/** Every tool of the protocol that works here. */
export const BUILT_IN_TOOLS: readonly ServedTool[] = [
  accountGet,
  accountPasswd,
  auditExport,
  auditSearch,
  tokenCreate,
  tokenList,
  tokenRevoke,
  userAdd,
  userDisable,
  userEnable,
  userLink,
  userList,
  userPasswd,
]
