import { UserId } from '@parley/protocol'

/** Who holds a person's uploads, and owns those under way; `user/local` is whoever has no account. */
export const personHolder = (ownerId: UserId | null): string => `${PERSON_HOLDERS}${ownerId ?? NO_ACCOUNT}`
export const PERSON_HOLDERS = 'user/'
/** Who holds what a person has let go of: it counts for them until its bytes are collected. */
export const leftHolder = (ownerId: UserId | null): string => `${LEFT_HOLDERS}${ownerId ?? NO_ACCOUNT}`
export const LEFT_HOLDERS = 'left/'
const NO_ACCOUNT = 'local'

/** The person that a name of `personHolder` stands for; `undefined` for any other name. */
export function personOfHolder(holder: string): UserId | null | undefined {
  if (!holder.startsWith(PERSON_HOLDERS)) return undefined
  const name = holder.slice(PERSON_HOLDERS.length)
  return name === NO_ACCOUNT ? null : UserId.safeParse(name).data
}
