import { posix } from 'node:path'
import type { Grant, ServerSpec, WorkerLabels } from '@parley/protocol'
import { closedHost } from '@parley/protocol/public-address'
import type { Store } from '@parley/store'

/** What a person may not have mounted: the field that asks for too much, and why. */
export interface MountRefusal {
  readonly field: string
  readonly reason: string
}

/**
 * Whether somebody who was granted this may have that mounted. Whoever attaches a program runs it somewhere: what is not a box, a
 * folder of the agent's own or a public address is an admin's to give. Where a name leads is found out when it is dialled.
 * `labels` are those of the executor that it names.
 */
export function mountRefusal(server: ServerSpec, grant: Grant, labels: WorkerLabels = []): MountRefusal | undefined {
  if (server.kind === 'http') {
    const host = grant.private_http ? undefined : closedHost(server.url)
    if (host === undefined) return undefined
    return refusal('server.url', `${host} is not a public address: to reach it must be granted`, '--private-http on')
  }
  const { place, folder } = server
  if (place.kind === 'host' && !grant.unboxed)
    return refusal('server.place', 'to run a program on a host outside of a box must be granted', '--unboxed on')
  if (place.kind === 'executor' && !mayUse({ name: place.executor, labels }, grant))
    return refusal(
      'server.place.executor',
      `to run programs on ${place.executor} must be granted`,
      `--executor ${place.executor}`,
    )
  // A box that has a network has that of its host, with all that is reached from there.
  if (place.kind === 'boxed' && server.network && !grant.private_http)
    return refusal('server.network', 'a network reaches also what is not public, so it must be granted', '--private-http on')
  if (folder !== undefined && place.kind !== 'executor' && grantedAbove(folder, grant) === null)
    return refusal('server.folder', `to use ${folder}, it or a folder above it must be granted`, `--folder ${folder}`)
  return undefined
}

/** Whether a local agent of somebody who was granted this may work in that folder of its host; null is one of its own. */
export function folderRefusal(folder: string | null, grant: Pick<Grant, 'folders'>): MountRefusal | undefined {
  if (folder === null || grantedAbove(folder, grant) !== null) return undefined
  return refusal('folder', `to use ${folder}, it or a folder above it must be granted`, `--folder ${folder}`)
}

/** The same, with the labels that its executor last told of. */
export async function mountRefusalAt(
  { workers }: Pick<Store, 'workers'>,
  server: ServerSpec,
  grant: Grant,
): Promise<MountRefusal | undefined> {
  const place = server.kind === 'stdio' ? server.place : undefined
  const labels = place?.kind === 'executor' ? await labelsOf({ workers }, place.executor, grant) : []
  return mountRefusal(server, grant, labels)
}

/** Looked up only where a label was granted. */
export async function labelsOf(
  { workers }: Pick<Store, 'workers'>,
  executor: string,
  { executors }: Pick<Grant, 'executors'>,
): Promise<WorkerLabels> {
  return executors.some(isLabel) ? ((await workers.byName('executor', executor))?.labels ?? []) : []
}

/** Whether programs of somebody who was granted this may run on an executor. */
export const mayUse = (
  { name, labels }: { readonly name: string; readonly labels: WorkerLabels },
  { executors }: Pick<Grant, 'executors'>,
): boolean =>
  executors.some((one) =>
    isLabel(one) ? labels.some(({ key, value }) => one === `${key}=${value}`) : one === '*' || one === name,
  )

/** No name of a worker has this in it. */
const isLabel = (granted: string): boolean => granted.includes('=')

/** `granted`: the words after USER that an admin types to let it be. */
const refusal = (field: string, reason: string, granted: string): MountRefusal => ({
  field,
  reason: `${reason} by an admin (parley grant set USER ${granted})`,
})

/**
 * The granted folder that a folder of a host lies below, by the text alone: the host follows the links of both, and looks again. Of several it is the
 * outermost: whoever may write there can make a link of one further in, which then is no bound. Null is none.
 */
export function grantedAbove(folder: string, { folders }: Pick<Grant, 'folders'>): string | null {
  if (!folder.startsWith('/')) return null
  const path = posix.normalize(`${folder}/`)
  const above = folders.map((each) => posix.normalize(`${each}/`)).filter((each) => path.startsWith(each))
  return above.toSorted((one, other) => one.length - other.length)[0] ?? null
}

/** The same for a mount. On an executor no folder is a bound: what was granted there is the executor. */
export function mountGrantedAbove(server: ServerSpec, grant: Pick<Grant, 'folders'>): string | null {
  if (server.kind === 'http' || server.folder === undefined || server.place.kind === 'executor') return null
  return grantedAbove(server.folder, grant)
}
