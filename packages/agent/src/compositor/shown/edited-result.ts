import { isJsonObject, type JsonObject, parseJson } from '@parley/protocol'
import { InputRequired, JsonText, type ServiceResult } from '@parley/rpc'
import { editedText } from '../../edited-text.ts'
import { POLICY_META } from './shown-result.ts'

/** What a call answered whose arguments a person had changed: whoever called it is told so, and how. */
export function withEdited(result: ServiceResult, sent: JsonObject): ServiceResult {
  if (result instanceof InputRequired) return result
  const answer = result instanceof JsonText ? parseJson(result.text) : result
  if (!isJsonObject(answer)) return result
  const meta = isJsonObject(answer._meta) ? answer._meta : {}
  const told: JsonObject = { ...answer, _meta: { ...meta, [POLICY_META]: { decision: 'allow', edited: sent } } }
  return Array.isArray(answer.content)
    ? { ...told, content: [{ type: 'text', text: editedText(sent) }, ...answer.content] }
    : told
}
