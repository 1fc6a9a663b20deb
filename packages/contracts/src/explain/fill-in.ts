import type { JsonObject } from '@parley/protocol'
import type { ContractName } from '../registry/registry-types.ts'
import type { Rewrite } from './step.ts'

/** These are refused without params, though every field of them may be left out. */
const NEEDS_PARAMS: ReadonlySet<ContractName> = new Set(['newConversation', 'listConversations', 'getAuthStatus'])

/** What real Codex insists on and the documents let a client leave out: where it is taken from. */
const TAKEN_FROM: Readonly<Partial<Record<ContractName, Readonly<Record<string, string>>>>> = {
  sendUserTurn: {
    cwd: 'taken from the conversation',
    approvalPolicy: 'taken from the conversation',
    sandboxPolicy: 'taken from the conversation',
    model: 'taken from the conversation',
    summary: 'auto, as Codex has it by itself',
  },
  resumeConversation: { path: 'looked up by the conversation' },
  archiveConversation: { rolloutPath: 'looked up by the conversation' },
}

/** Params with what is known of what was left out; `later` are the fields that only a running server can fill. */
export function fillIn(
  name: ContractName,
  params: JsonObject | undefined,
): { readonly params: JsonObject; readonly steps: readonly Rewrite[]; readonly later: readonly string[] } {
  const steps: Rewrite[] = []
  if (params === undefined && NEEDS_PARAMS.has(name))
    steps.push({ field: 'params', from: null, to: {}, why: 'Codex wants params here, be they empty' })
  const given = params ?? {}
  // Without its conversation there is nothing to take anything from.
  if (given['conversationId'] === undefined) return { params: given, steps, later: [] }
  const later = Object.entries(TAKEN_FROM[name] ?? {}).filter(([field]) => given[field] === undefined)
  for (const [field, why] of later) steps.push({ field: `params.${field}`, from: null, to: null, why })
  return { params: given, steps, later: later.map(([field]) => field) }
}
