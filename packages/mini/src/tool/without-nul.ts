import type { ResultPart, ToolResult } from './toolbox.ts'

/** NUL is a character that neither databases nor some providers take: it is left out of every text, and the model is told. */
export function withoutNul(result: ToolResult): ToolResult {
  const parts = result.parts.map(cleaned)
  return { ...result, parts, ...(result.output === undefined ? {} : { output: result.output.replaceAll('\0', '') }) }
}

function cleaned(part: ResultPart): ResultPart {
  if (part.type !== 'text' || !part.text.includes('\0')) return part
  const text = part.text.replaceAll('\0', '')
  return { type: 'text', text: `${text}\n[${part.text.length - text.length} NUL bytes were left out]` }
}
