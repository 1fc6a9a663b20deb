import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ContractName } from '../registry/registry-types.ts'
import type { Rewrite } from './step.ts'

export interface Reshaped {
  readonly value: JsonObject
  readonly steps: readonly Rewrite[]
}

/** Words of the documents and of newer versions for the four decisions. */
const DECISIONS: Readonly<Record<string, string>> = {
  allow: 'approved',
  accept: 'approved',
  approve: 'approved',
  deny: 'denied',
  decline: 'denied',
  acceptForSession: 'approved_for_session',
  cancel: 'abort',
}
const SANDBOX_MODES: Readonly<Record<string, string>> = {
  dangerFullAccess: 'danger-full-access',
  readOnly: 'read-only',
  workspaceWrite: 'workspace-write',
}
const SANDBOX_FIELDS: Readonly<Record<string, string>> = {
  writableRoots: 'writable_roots',
  networkAccess: 'network_access',
  excludeTmpdirEnvVar: 'exclude_tmpdir_env_var',
  excludeSlashTmp: 'exclude_slash_tmp',
}
const SUMMARIES: Readonly<Record<string, string>> = { always: 'detailed', never: 'none' }
/** Approvals of 0.42 have these in snake_case, those of 0.44 in camelCase. */
const APPROVAL_FIELDS: readonly (readonly [camel: string, snake: string])[] = [
  ['conversationId', 'conversation_id'],
  ['callId', 'call_id'],
  ['fileChanges', 'file_changes'],
  ['grantRoot', 'grant_root'],
]

/** Params in the shapes that the documents declare, as the real method takes them. What is in its right shape stays as it is. */
export function reshapeParams(name: ContractName, params: JsonObject, casing: 'camel' | 'snake'): Reshaped {
  const change = new Change(params)
  if (name === 'sendUserMessage' || name === 'sendUserTurn') reshapeItems(change)
  if (name === 'sendUserTurn' || name === 'execOneOffCommand') reshapeSandbox(change)
  if (name === 'sendUserTurn') change.word('summary', SUMMARIES, 'the summary of the documents has another word on the wire')
  if (name === 'applyPatchApproval' || name === 'execCommandApproval') {
    for (const [camel, snake] of APPROVAL_FIELDS) {
      const [wrong, right] = casing === 'camel' ? [snake, camel] : [camel, snake]
      change.rename(wrong, right, `approvals of this version are in ${casing === 'camel' ? 'camelCase' : 'snake_case'}`)
    }
  }
  return change.done('params')
}

/** The answer to an approval in the words of the documents, as the real Codex reads it. Anything it cannot read it denies. */
export function reshapeAnswer(answer: JsonObject): Reshaped {
  const change = new Change(answer)
  if (answer['decision'] === undefined && answer['action'] !== undefined)
    change.rename('action', 'decision', 'the answer to an elicitation says action where Codex reads decision')
  change.word('decision', DECISIONS, 'Codex does not know the word, and counts it as a denial')
  return change.done('result')
}

function reshapeItems(change: Change): void {
  const items = change.value['items']
  if (!Array.isArray(items)) return
  const shaped = items.map(itemOf)
  for (const [index, item] of shaped.entries()) {
    const before = items[index] ?? null
    if (item !== before) change.note(`items[${index}]`, before, item, 'what is said in an item belongs into its field data')
  }
  change.set('items', shaped)
}

function itemOf(item: JsonValue): JsonValue {
  if (!isJsonObject(item) || item['data'] !== undefined) return item
  const { type, text, path } = item
  const image = item['imageUrl'] ?? item['image_url'] ?? item['url']
  if (type === 'text' && text !== undefined) return { type, data: { text } }
  if (type === 'image' && image !== undefined) return { type, data: { image_url: image } }
  return type === 'localImage' && path !== undefined ? { type, data: { path } } : item
}

function reshapeSandbox(change: Change): void {
  const policy = change.value['sandboxPolicy']
  if (typeof policy === 'string') {
    const to = sandboxObject({ mode: SANDBOX_MODES[policy] ?? policy })
    change.note('sandboxPolicy', policy, to, 'the policy of a turn or a command is an object with a mode')
    return change.set('sandboxPolicy', to)
  }
  if (!isJsonObject(policy)) return
  const renamed = Object.entries(policy).map(([field, value]): [string, JsonValue] => {
    if (field === 'type' && policy['mode'] === undefined) return ['mode', value ?? null]
    return [SANDBOX_FIELDS[field] ?? field, value ?? null]
  })
  const flat = Object.fromEntries(renamed)
  const mode = flat['mode']
  const to = sandboxObject({ ...flat, ...(typeof mode === 'string' ? { mode: SANDBOX_MODES[mode] ?? mode } : {}) })
  if (JSON.stringify(to) === JSON.stringify(policy)) return
  change.note('sandboxPolicy', policy, to, 'the fields of a policy are in snake_case, and those of workspace-write are all there')
  change.set('sandboxPolicy', to)
}

function sandboxObject(policy: JsonObject): JsonObject {
  if (policy['mode'] !== 'workspace-write') return policy
  return { ...policy, ...missing(policy, ['network_access', 'exclude_tmpdir_env_var', 'exclude_slash_tmp']) }
}

const missing = (policy: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.filter((field) => policy[field] === undefined).map((field) => [field, false]))

/** A copy that is changed step by step. */
class Change {
  value: JsonObject
  readonly #steps: Rewrite[] = []

  constructor(value: JsonObject) {
    this.value = value
  }

  note(field: string, from: JsonValue, to: JsonValue, why: string): void {
    this.#steps.push({ field, from, to, why })
  }

  set(field: string, to: JsonValue): void {
    this.value = { ...this.value, [field]: to }
  }

  word(field: string, words: Readonly<Record<string, string>>, why: string): void {
    const from = this.value[field]
    const to = typeof from === 'string' && Object.hasOwn(words, from) ? words[from] : undefined
    if (from === undefined || to === undefined) return
    this.note(field, from, to, why)
    this.set(field, to)
  }

  rename(from: string, to: string, why: string): void {
    const { [from]: value, ...rest } = this.value
    if (value === undefined || rest[to] !== undefined) return
    this.note(from, from, to, why)
    this.value = { ...rest, [to]: value }
  }

  done(root: string): Reshaped {
    return { value: this.value, steps: this.#steps.map((step) => ({ ...step, field: `${root}.${step.field}` })) }
  }
}
