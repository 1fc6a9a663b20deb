/**
 * A text of somebody else, as much of it as is kept. A part that is cut out of a long text keeps all of it in memory, so what is
 * kept of one is written anew.
 */
export function keptText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const part: unknown = JSON.parse(JSON.stringify(text.slice(0, chars).toWellFormed()))
  return `${String(part)}…`
}
