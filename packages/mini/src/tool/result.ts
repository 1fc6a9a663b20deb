import type { ToolResult } from './toolbox.ts'

/** An answer in words. */
export function said(text: string): ToolResult {
  return { parts: [{ type: 'text', text }], isError: false }
}

/** A failure in words that the model can do something about. */
export function failed(text: string): ToolResult {
  return { parts: [{ type: 'text', text }], isError: true }
}

/** The words of whatever was thrown. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
