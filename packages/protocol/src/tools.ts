import type * as z from 'zod'
import { accountGet, accountPasswd } from './tools/account.ts'
import { auditExport, auditSearch } from './tools/audit.ts'
import { tokenCreate, tokenList, tokenRevoke } from './tools/token.ts'
import { userAdd, userDisable, userEnable, userLink, userList, userPasswd } from './tools/user.ts'

/** Every tool that works today, by name. Schemas, the reference, the typed client and the role servers are made from this. */
export const TOOLS = {
  'account.get': accountGet,
  'account.passwd': accountPasswd,
  'audit.export': auditExport,
  'audit.search': auditSearch,
  'token.create': tokenCreate,
  'token.list': tokenList,
  'token.revoke': tokenRevoke,
  'user.add': userAdd,
  'user.disable': userDisable,
  'user.enable': userEnable,
  'user.link': userLink,
  'user.list': userList,
  'user.passwd': userPasswd,
} as const

export type ToolName = keyof typeof TOOLS
/** What a caller may leave out is optional here. */
export type ToolInput<Name extends ToolName> = z.input<(typeof TOOLS)[Name]['input']>
/** What a handler gets: defaults filled in. */
export type ToolArguments<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['input']>
export type ToolOutput<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['output']>
