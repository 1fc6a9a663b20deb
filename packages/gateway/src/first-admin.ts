import { Password, Username } from '@parley/protocol'
import { lineOfStranger } from './audit/line.ts'
import { GatewayRefused } from './failure.ts'
import type { World } from './tool/served-tool.ts'

/** Makes the first admin on an empty database and a link to sign in with; does nothing on any other. */
export async function makeFirstAdmin(
  world: World,
  { username, password }: { readonly username: string; readonly password?: string },
): Promise<string | undefined> {
  const { store, passwords, links, audit, now } = world
  const anybody = await store.users.list({ limit: 1 })
  if (anybody.length > 0) return undefined
  const name = Username.safeParse(username)
  if (!name.success) throw new GatewayRefused('first_admin_invalid', `the first admin's name ${name.error.issues[0]?.message}`)
  const secret = Password.optional().safeParse(password)
  if (!secret.success)
    throw new GatewayRefused('first_admin_invalid', `the first admin's password ${secret.error.issues[0]?.message}`)
  const passwordHash = secret.data === undefined ? null : await passwords.hash(secret.data)
  // Of several gateways starting at once one makes the admin; the others find one.
  const admin = await store.users.addFirstAdmin({ username: name.data, passwordHash })
  if (admin === undefined) return undefined
  await audit.record(
    lineOfStranger('first-admin', { at: now(), outcome: 'ok', remote: 'local', actor: admin.username, target: admin.id }),
  )
  return (await links.make(admin.id)).url
}
