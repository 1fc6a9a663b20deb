import { posix } from 'node:path'
import type { Grant, ServerSpec } from '@parley/protocol'

/** What a person may not have mounted: the field that asks for too much, and why. */
export interface MountRefusal {
  readonly field: string
  readonly reason: string
}

/**
 * Whether somebody who was granted this may have that mounted. Whoever attaches a program runs it somewhere: what is not a box, a
 * folder of the agent's own or a public address is an admin's to give. Whether an address is public is found out when it is dialled.
 */
export function mountRefusal(server: ServerSpec, grant: Grant): MountRefusal | undefined {
  if (server.kind === 'http') return undefined
  const { place, folder } = server
  if (place.kind === 'host' && !grant.unboxed)
    return refusal('server.place', 'to run a program on a host outside of a box must be granted')
  if (place.kind === 'executor' && !mayUse(place.executor, grant))
    return refusal('server.place.executor', `to run programs on ${place.executor} must be granted`)
  // A box that has a network has that of its host, with all that is reached from there.
  if (place.kind === 'boxed' && server.network && !grant.private_http)
    return refusal('server.network', 'a network reaches also what is not public, so it must be granted (private_http)')
  if (folder !== undefined && place.kind !== 'executor' && !isBelow(folder, grant.folders))
    return refusal('server.folder', `${folder} is not below a folder that was granted`)
  return undefined
}

/** Whether a local agent of somebody who was granted this may work in that folder of its host; null is one of its own. */
export function folderRefusal(folder: string | null, grant: Pick<Grant, 'folders'>): MountRefusal | undefined {
  if (folder === null || isBelow(folder, grant.folders)) return undefined
  return refusal('folder', `${folder} is not below a folder that was granted`)
}

/** Whether programs of somebody who was granted this may run on an executor. */
export const mayUse = (executor: string, { executors }: Pick<Grant, 'executors'>): boolean =>
  executors.some((name) => name === '*' || name === executor)

const refusal = (field: string, reason: string): MountRefusal => ({ field, reason: `${reason} by an admin (grant.set)` })

/** By the text alone: links are followed by the host, which looks again. */
function isBelow(folder: string, granted: readonly string[]): boolean {
  if (!folder.startsWith('/')) return false
  const path = posix.normalize(`${folder}/`)
  return granted.some((each) => path.startsWith(posix.normalize(`${each}/`)))
}
