import { resolve } from 'node:path'
import type { ApprovalRequest, EngineEvent, FileChange } from '@parley/agent'

/** The same with absolute paths: an engine may tell them below the folder of the turn, and clients do not know that. */
export function withAbsolutePaths(event: EngineEvent, folder: string): EngineEvent {
  if (event.type === 'patch_begin') return { ...event, changes: absoluteChanges(event.changes, folder) }
  if (event.type === 'approval_requested') return { ...event, request: absoluteRequest(event.request, folder) }
  return event
}

export function absoluteRequest(request: ApprovalRequest, folder: string): ApprovalRequest {
  return request.kind === 'patch' ? { ...request, changes: absoluteChanges(request.changes, folder) } : request
}

const absoluteChanges = (changes: readonly FileChange[], folder: string): FileChange[] =>
  changes.map((change) => ({
    ...change,
    path: resolve(folder, change.path),
    ...(change.movedTo === undefined ? {} : { movedTo: resolve(folder, change.movedTo) }),
  }))
