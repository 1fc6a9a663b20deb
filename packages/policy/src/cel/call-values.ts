import { type CelInput, type CelMap, celList, celMap } from '@bufbuild/cel'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { JsonValue } from '@parley/protocol'
import { JsonBounds, entriesOf } from '../call/json-limits.ts'
import { ENGINE_MOUNT, type PolicyCall } from '../call/policy-call.ts'
import type { VariableName } from './cel-types.ts'
import type { Charges } from './meter.ts'

/** Why a rule that goes by counts cannot be evaluated. */
export const UNCOUNTED = 'how many such calls there were is not known: too many different ones were made, try again later'

/** A call as conditions see it. What no condition asks for is never made, and nothing is made twice. */
export type CallValues = Readonly<Record<VariableName, CelInput>> & Record<string, CelInput>

/** Its `args` throws `JsonRefused` where there is too much in them, and what `meter` throws. */
export function callValues(call: PolicyCall, meter: Charges): CallValues {
  let args: CelInput | undefined
  let annotations: CelInput | undefined
  const made = (value: JsonValue): CelInput => celOf(value, 0, { bounds: new JsonBounds(), meter })
  return {
    get args() {
      args ??= made(call.arguments)
      return args
    },
    get agent() {
      return record({ id: call.agent.id, name: call.agent.name, owner: call.agent.owner })
    },
    get caller() {
      return record({ role: call.caller.role, name: call.caller.name })
    },
    kind: call.kind,
    mount: call.mount ?? ENGINE_MOUNT,
    name: call.name,
    get annotations() {
      annotations ??= made(call.annotations ?? {})
      return annotations
    },
    get counts() {
      if (call.counts === null) throw new Error(UNCOUNTED)
      const { turn, hour, day } = call.counts
      return record({ turn: BigInt(turn), hour: BigInt(hour), day: BigInt(day) })
    },
    get now() {
      return timestampFromMs(call.now)
    },
  }
}

const record = (members: Readonly<Record<string, CelInput>>): CelMap => celMap(new Map(Object.entries(members)))

interface Within {
  readonly bounds: JsonBounds
  readonly meter: Charges
}

/** Numbers are doubles, as CEL says of JSON, whatever they look like: what an operator takes must not depend on a stranger's value. */
function celOf(value: JsonValue, depth: number, within: Within): CelInput {
  within.bounds.enter(depth)
  within.meter.charge(1)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (Array.isArray(value)) return celList(value.map((item) => celOf(item, depth + 1, within)))
  const members = new Map<string, CelInput>()
  for (const [name, member] of entriesOf(value)) members.set(name, celOf(member, depth + 1, within))
  return celMap(members)
}
