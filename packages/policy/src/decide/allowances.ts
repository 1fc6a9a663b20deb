import { type Allowance, POLICY_LIMITS } from '@parley/protocol'
import { digestCall } from '../call/digest.ts'
import type { PolicyCall } from '../call/policy-call.ts'

type Asker = Allowance['answers'][number]

/** The allowances that together answer all who ask about a call; undefined where one of them is left. */
export function answering(
  call: PolicyCall,
  askers: readonly Asker[],
  allowances: readonly Allowance[],
): readonly string[] | undefined {
  const [first] = allowances
  if (first === undefined) return undefined
  let digest: string | null | undefined
  const isSame = (wanted: string): boolean => {
    digest ??= digestOf(call)
    return digest === wanted
  }
  const covering = allowances.slice(0, POLICY_LIMITS.allowances).filter((allowance) => covers(allowance, call, isSame))
  const answers = new Set<string>()
  for (const asker of askers) {
    const answer = covering.find((allowance) => allowance.answers.includes(asker))
    if (answer === undefined) return undefined
    answers.add(answer.id)
  }
  return [...answers]
}

function covers(allowance: Allowance, call: PolicyCall, isSame: (digest: string) => boolean): boolean {
  if (allowance.agent_id !== call.agent.id || allowance.kind !== call.kind || allowance.name !== call.name) return false
  if (allowance.mount !== call.mount || allowance.mount_version !== call.mountVersion) return false
  if (allowance.session !== null && allowance.session !== call.session) return false
  // A time that cannot be read has passed.
  if (!(Date.parse(allowance.expires_at) > call.now)) return false
  return allowance.digest === null || isSame(allowance.digest)
}

function digestOf(call: PolicyCall): string | null {
  const digest = digestCall(call)
  return digest.kind === 'digest' ? digest.digest : null
}
