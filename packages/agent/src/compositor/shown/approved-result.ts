import { isJsonObject, type JsonObject, parseJson } from '@parley/protocol'
import { InputRequired, JsonText, type ServiceResult } from '@parley/rpc'
import { approvedText, editedText } from '../../approved-text.ts'
import { POLICY_META } from './shown-result.ts'

/** What a person made of a call that they let through. */
interface Approval {
  readonly arguments?: JsonObject
  readonly said?: string
}

/** What a call answered that a person let through: whoever called it is told what that person changed and said. */
export function withApproval(result: ServiceResult, { arguments: edited, said }: Approval): ServiceResult {
  if ((edited === undefined && said === undefined) || result instanceof InputRequired) return result
  const answer = result instanceof JsonText ? parseJson(result.text) : result
  if (!isJsonObject(answer)) return result
  const meta = isJsonObject(answer._meta) ? answer._meta : {}
  const policy = {
    decision: 'allow',
    ...(edited === undefined ? {} : { edited }),
    ...(said === undefined ? {} : { reason: said }),
  }
  const told: JsonObject = { ...answer, _meta: { ...meta, [POLICY_META]: policy } }
  if (!Array.isArray(answer.content)) return told
  const words = [...(edited === undefined ? [] : [editedText(edited)]), ...(said === undefined ? [] : [approvedText(said)])]
  return { ...told, content: [...words.map((text) => ({ type: 'text', text })), ...answer.content] }
}
