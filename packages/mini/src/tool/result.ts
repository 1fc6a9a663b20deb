import type { ToolResult } from './toolbox.ts'

/** An answer in words. */
export function said(text: string): ToolResult {
  return { parts: [{ type: 'text', text }], isError: false }
}

/** A failure in words that the model can do something about. */
export function failed(text: string): ToolResult {
  return { parts: [{ type: 'text', text }], isError: true }
}
