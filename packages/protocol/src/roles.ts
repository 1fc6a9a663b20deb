import * as z from 'zod'

/** What a token makes of its bearer. An admin is a `user` with more rights, not a role of its own. */
export const Role = z.enum(['user', 'judge', 'agent', 'host', 'executor'])
export type Role = z.infer<typeof Role>

/** Who may call a tool. `admin` is a user whose account carries the admin flag. */
export type Audience = Role | 'admin'

/** The one place that says whether a caller is in a tool's audience. */
export function isAdmitted(audience: readonly Audience[], caller: { role: Role; admin: boolean }): boolean {
  return audience.includes(caller.role) || (caller.role === 'user' && caller.admin && audience.includes('admin'))
}
