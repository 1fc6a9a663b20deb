import type { ServerResponse } from 'node:http'
import { answerJson, type Headers } from './answer.ts'

interface Answer {
  readonly response: ServerResponse
  readonly status: number
  readonly text: string
  readonly headers: Headers | undefined
}

/** Answers that are ready. At most one per request under way, and never kept for longer than one turn of the event loop. */
let ready: Answer[] = []

/**
 * Writes an answer at the end of this turn of the event loop, with all others of it. Each write wakes its reader, and
 * a reader that is woken for every single answer costs both sides more than the answers do.
 */
export function answerSoon(response: ServerResponse, status: number, text: string, headers: Headers | undefined): void {
  if (ready.push({ response, status, text, headers }) === 1) setImmediate(writeAll)
}

function writeAll(): void {
  const answers = ready
  ready = []
  for (const { response, status, text, headers } of answers) answerJson(response, status, text, headers)
}
