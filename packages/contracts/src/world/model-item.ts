import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ModelMove } from '../record/scenario.ts'

/** What a request to the model offers, as far as moves need to know: each version of Codex has names of its own. */
export interface Offered {
  readonly functions: readonly string[]
  /** Functions of a server, by the name of the server's group. */
  readonly groups: Readonly<Record<string, readonly string[]>>
  /** Whether patches have a function of their own: our own engine has it, whose tools say nothing about a sandbox. */
  readonly hasPatch: boolean
}

/** `MADE_ID` of the normal form knows them by so many. */
const ID_BYTES = 4

export function offeredIn(body: JsonObject): Offered {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const nameOf = (tool: JsonObject): string => (typeof tool['name'] === 'string' ? tool['name'] : '')
  const groups = tools
    .filter((tool) => Array.isArray(tool['tools']))
    .map((tool): [string, readonly string[]] => {
      const inside = Array.isArray(tool['tools']) ? tool['tools'] : []
      return [nameOf(tool), inside.filter(isJsonObject).map(nameOf)]
    })
  const hasPatch = tools.some((tool) => nameOf(tool) === 'apply_patch' && takesPatch(tool['parameters']))
  return { functions: tools.map(nameOf), groups: Object.fromEntries(groups), hasPatch }
}

function takesPatch(parameters: JsonValue | undefined): boolean {
  return isJsonObject(parameters) && isJsonObject(parameters['properties']) && 'patch' in parameters['properties']
}

/** Ids for what a model makes. Those of items are told apart from Codex's own by their form, which recordings number anew. */
export class Ids {
  readonly #part: string
  #items = 0
  #calls = 0

  constructor(random: (bytes: number) => Uint8Array) {
    this.#part = Buffer.from(random(ID_BYTES)).toString('hex')
  }

  item(prefix: string): string {
    return `${prefix}_${this.#part}${(this.#items += 1)}`
  }
  call(): string {
    return `call_${(this.#calls += 1)}`
  }
}

/** A move as an item of the Responses API, in the names that were offered. */
export function itemOf(move: ModelMove, offered: Offered, ids: Ids): JsonObject {
  if ('say' in move)
    return { type: 'message', id: ids.item('msg'), role: 'assistant', content: [{ type: 'output_text', text: move.say }] }
  if ('think' in move) {
    const summary = [{ type: 'summary_text', text: move.think }]
    return { type: 'reasoning', id: ids.item('rs'), summary, encrypted_content: 'sealed' }
  }
  if ('use' in move) return call(ids, toolName(move.server, move.use, offered), move.arguments)
  if ('plan' in move) return call(ids, { name: 'update_plan' }, { plan: move.plan.map((step) => ({ ...step })) })
  const isNew = offered.functions.includes('exec_command')
  if ('run' in move) {
    const { run, escalate: justification } = move
    const why = justification === undefined ? {} : { justification }
    if (isNew) {
      const more = justification === undefined ? {} : { sandbox_permissions: 'require_escalated', ...why }
      return call(ids, { name: 'exec_command' }, { cmd: run.map(quoted).join(' '), yield_time_ms: 15_000, ...more })
    }
    const more = justification === undefined || offered.hasPatch ? {} : { with_escalated_permissions: true, ...why }
    return call(ids, { name: 'shell' }, { command: [...run], ...more })
  }
  if (offered.hasPatch) return call(ids, { name: 'apply_patch' }, { patch: move.patch })
  if (isNew)
    return call(ids, { name: 'exec_command' }, { cmd: `apply_patch <<'PATCH'\n${move.patch}\nPATCH\n`, yield_time_ms: 15_000 })
  return call(ids, { name: 'shell' }, { command: ['apply_patch', move.patch] })
}

function toolName(server: string, tool: string, { groups, functions }: Offered): { name: string; namespace?: string } {
  const group = Object.entries(groups).find(([name, tools]) => name.includes(server) && tools.includes(tool))
  if (group !== undefined) return { name: tool, namespace: group[0] }
  return { name: functions.find((name) => name.includes(server) && name.endsWith(tool)) ?? `${server}__${tool}` }
}

function call(ids: Ids, named: { name: string; namespace?: string }, args: JsonObject): JsonObject {
  return { type: 'function_call', id: ids.item('fc'), call_id: ids.call(), ...named, arguments: JSON.stringify(args) }
}

const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
