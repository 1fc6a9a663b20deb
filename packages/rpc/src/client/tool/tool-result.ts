import { type JsonObject, TOOL_ERROR_META, ToolError, ToolErrorBody, isJsonObject } from '@parley/protocol'

/** Throws what a failed call says about itself; a result that is no failure passes. */
export function throwToolError(result: JsonObject): void {
  if (result.isError !== true) return
  const meta = isJsonObject(result._meta) ? result._meta : {}
  const body = ToolErrorBody.safeParse(meta[TOOL_ERROR_META])
  if (!body.success) throw new ToolError('internal', textOf(result))
  const { code, message, field, hint } = body.data
  throw new ToolError(code, message, { ...(field === undefined ? {} : { field }), ...(hint === undefined ? {} : { hint }) })
}

function textOf(result: JsonObject): string {
  const content = Array.isArray(result.content) ? result.content : []
  const texts = content.flatMap((part) => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []))
  return texts.length === 0 ? 'the tool failed without saying why' : texts.join('\n')
}
