import type { Client } from '@parley/rpc'
import { CommandError } from '@parley/command-line'
import { oneRole } from '../wording/one-role.ts'

/** Who a command is for: any user, or an admin. */
type Needed = 'user' | 'admin'

const HINTS: Readonly<Record<Needed, string>> = {
  user: 'parley token create --role user --user NAME makes one',
  admin: 'parley token create --role user --user NAME makes one; the user has to be an admin',
}

/** A server that says who we are there says whether this can work; without a word it is asked and answers itself. */
export async function requireRole(client: Client, needed: Needed): Promise<Client> {
  const { role, admin } = client.server.info
  const isEnough = role === undefined || (role === 'user' && (needed === 'user' || admin === true))
  if (isEnough) return client
  await client.close()
  const whose =
    role === 'user' ? "a user's without admin rights" : `${typeof role === 'string' ? oneRole(role) : 'somebody else'}'s`
  const wanted = needed === 'admin' ? "an admin's" : "a user's"
  throw new CommandError('wrong_role', `this token is ${whose}; this command needs ${wanted}`, { hint: HINTS[needed] })
}
