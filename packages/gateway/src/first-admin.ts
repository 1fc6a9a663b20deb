import { type GatewayCaller, GatewayRefused, lineOf, lineOfStranger } from '@parley/access'
import { Password, Username } from '@parley/protocol'
import type { AccountWorld } from './account/account-world.ts'

/** The account that whoever starts a gateway signs in with. */
export interface FirstAdmin {
  readonly username: string
  /** A fresh one-time link, while the account has no password. */
  readonly signIn?: string
}

/**
 * Makes the first admin on an empty database, and says how to sign in: with the oldest account of an admin who can. While
 * it has no password nobody could get in again without a link, so every start makes one. Links of earlier starts stay
 * good until their time is over: another gateway on the same database, or the same one before a crash, may just have shown one.
 */
export async function welcomeFirstAdmin(
  world: AccountWorld,
  options: { readonly username: string; readonly password?: string; readonly starter: GatewayCaller },
): Promise<FirstAdmin | undefined> {
  await makeFirstAdmin(world, options)
  const { store, links, audit, now } = world
  const admin = await store.users.oldestAdmin()
  if (admin === undefined) return undefined
  const { username } = admin
  if (admin.passwordHash !== null) return { username }
  const { url } = await links.make(admin.id)
  await audit.record(lineOf(options.starter, 'user.link', { at: now(), outcome: 'ok', target: username }))
  return { username, signIn: url }
}

async function makeFirstAdmin(
  { store, passwords, audit, now }: AccountWorld,
  { username, password }: { readonly username: string; readonly password?: string },
): Promise<void> {
  const anybody = await store.users.list({ limit: 1 })
  if (anybody.length > 0) return
  const name = Username.safeParse(username)
  if (!name.success) throw new GatewayRefused('first_admin_invalid', `the first admin's name ${name.error.issues[0]?.message}`)
  const secret = Password.optional().safeParse(password)
  if (!secret.success)
    throw new GatewayRefused('first_admin_invalid', `the first admin's password ${secret.error.issues[0]?.message}`)
  const passwordHash = secret.data === undefined ? null : await passwords.hash(secret.data)
  // Of several gateways starting at once one makes the admin; the others find one.
  const admin = await store.users.addFirstAdmin({ username: name.data, passwordHash })
  if (admin === undefined) return
  await audit.record(
    lineOfStranger('first-admin', { at: now(), outcome: 'ok', remote: 'local', actor: admin.username, target: admin.id }),
  )
}
