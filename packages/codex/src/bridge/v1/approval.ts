import * as z from 'zod'
import type { ApprovalRequest } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { Table } from './answers.ts'
import { fileChanges } from './file-change.ts'

/** Something that Codex wants to be allowed, and the conversation that it is about. */
export interface WantedApproval {
  readonly threadId: string
  readonly request: ApprovalRequest
}

const Reason = { reason: z.string().nullish() }
const Command = { command: z.array(z.string()), cwd: z.string(), ...Reason }

const CommandWanted = z.object({ conversationId: z.string(), callId: z.string(), ...Command })
const PatchWanted = z.object({
  conversationId: z.string(),
  callId: z.string(),
  fileChanges: Table,
  grantRoot: z.string().nullish(),
  ...Reason,
})

/** Reads a request for approval, whose fields are in camelCase or, in 0.42, in snake_case. Undefined: it is none. */
export function wantedOf(method: string, params: JsonObject, id: string): WantedApproval | undefined {
  const fields = camelCased(params)
  if (method === 'execCommandApproval') {
    const read = CommandWanted.safeParse(fields)
    if (!read.success) return undefined
    const { conversationId: threadId, callId: call, command: argv, cwd: folder, reason = null } = read.data
    return { threadId, request: { id, call, kind: 'command', argv, folder, reason } }
  }
  if (method !== 'applyPatchApproval') return undefined
  const read = PatchWanted.safeParse(fields)
  if (!read.success) return undefined
  const { conversationId: threadId, callId: call, fileChanges: changes, grantRoot = null, reason = null } = read.data
  return { threadId, request: { id, call, kind: 'patch', changes: fileChanges(changes), grantRoot, reason } }
}

/** The names of the fields themselves; what is in them stays. */
function camelCased(params: JsonObject): JsonObject {
  const rename = (name: string): string => name.replaceAll(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [rename(name), value]))
}
