import { type JsonValue, isJsonObject } from '@parley/protocol'
import { wrongField } from '../refusal.ts'

const OWN: ReadonlySet<unknown> = new Set(['function', 'custom'])
const TOOLS_MAX = 4_096

/** Only tools that the client runs itself: what a provider runs would act with our key and is in no price list. */
export function checkTools(tools: JsonValue | undefined): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw wrongField('tools', 'must be a list')
  if (tools.length > TOOLS_MAX) throw wrongField('tools', `must have at most ${TOOLS_MAX} entries`)
  for (const [index, tool] of tools.entries()) checkTool(tool, `tools[${index}]`)
}

function checkTool(tool: JsonValue, path: string): void {
  if (!isJsonObject(tool)) throw wrongField(path, 'must be an object')
  const { type } = tool
  if (OWN.has(type)) return
  if (type !== 'namespace') throw wrongField(`${path}.type`, 'only function and custom tools are served; hosted tools are not')
  const inner = tool['tools']
  if (!Array.isArray(inner)) throw wrongField(`${path}.tools`, 'must be a list')
  for (const [index, one] of inner.entries())
    // A function in a namespace may go without saying so.
    if (!isJsonObject(one) || !OWN.has(one['type'] ?? 'function'))
      throw wrongField(`${path}.tools[${index}].type`, 'only function and custom tools are served; hosted tools are not')
}
