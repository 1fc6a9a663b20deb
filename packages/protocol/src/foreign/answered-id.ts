const ENDS_CHARS = 256
const ID_THEN_ANSWER =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,15})"?\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/
const ANSWER_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/
const ID_LAST = /,\s*"id"\s*:\s*"?(\d{1,15})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

/** Which request of ours a text answers that is too much to be parsed: by its beginning and its end alone. */
export function answeredId(text: string): number | undefined {
  const head = text.slice(0, ENDS_CHARS)
  const id = ID_THEN_ANSWER.exec(head) ?? (ANSWER_FIRST.test(head) ? ID_LAST.exec(text.slice(-ENDS_CHARS)) : null)
  return id === null ? undefined : Number(id[1])
}
