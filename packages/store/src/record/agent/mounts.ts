import type { AgentId } from '@parley/protocol'
import { type Transaction, Conflict, ShareExceeded, integer, text } from '@parley/database'
import type { MountRecord, NewMount } from './agent.ts'
import { mountValues, ownerOf, toMount } from './row.ts'
import * as sql from './statements.ts'
import { announceListed, lockActive } from './steps.ts'

/** Puts a mount in the place of the one of its name. The caller has locked the agent or is the first to know of it. */
export async function putMount(
  tx: Transaction,
  id: AgentId,
  mount: NewMount,
  { version, now }: { readonly version: number; readonly now: number },
): Promise<MountRecord> {
  const other = mount.options.plain ? await tx.get(sql.OTHER_PLAIN, [id, mount.name]) : undefined
  if (other !== undefined)
    throw new Conflict(`the mount ${text(other, 'name')} is shown without a prefix already, and one of an agent may be`)
  const row = await tx.get(sql.PUT_MOUNT, [id, ...mountValues(mount), version, now])
  if (row === undefined) throw new TypeError(`mount ${mount.name} vanished inside a transaction`)
  return toMount(row)
}

/**
 * Its version is the agent's, which never comes back: a mount that was taken off and attached again is told from the one before, however
 * late somebody looks.
 */
export async function attachMount(
  tx: Transaction,
  id: AgentId,
  mount: NewMount,
  { most, now }: { readonly most: number; readonly now: number },
): Promise<MountRecord> {
  const ownerId = ownerOf(await lockActive(tx, id))
  if ((await tx.get(sql.MOUNT, [id, mount.name])) === undefined) {
    const row = await tx.get(sql.COUNT_MOUNTS, [id])
    if (row !== undefined && integer(row, 'mounts') >= most) throw new ShareExceeded('mounts', most)
  }
  const attached = await putMount(tx, id, mount, { version: await touch(tx, id, now), now })
  announceListed(tx, { id, ownerId })
  return attached
}

export async function detachMount(tx: Transaction, id: AgentId, name: string, now: number): Promise<boolean> {
  const agent = await tx.get(sql.AGENT_FOR_CHANGE, [id])
  if (agent === undefined || (await tx.run(sql.REMOVE_MOUNT, [id, name])) === 0) return false
  await touch(tx, id, now)
  announceListed(tx, { id, ownerId: ownerOf(agent) })
  return true
}

/** The agent has changed: its new version. */
async function touch(tx: Transaction, id: AgentId, now: number): Promise<number> {
  const row = await tx.get(sql.TOUCH, [id, now])
  if (row === undefined) throw new TypeError(`agent ${id} vanished inside a transaction`)
  return integer(row, 'version')
}
