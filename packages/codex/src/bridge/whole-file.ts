/** One hunk that adds or takes away every line of a text: Codex gives the text of an added or deleted file instead of a diff. */
export function wholeFile(text: string, mark: '+' | '-'): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (lines.length === 0) return ''
  const range = lines.length === 1 ? '1' : `1,${lines.length}`
  const header = mark === '+' ? `@@ -0,0 +${range} @@\n` : `@@ -${range} +0,0 @@\n`
  const marked = lines.map((line) => (line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`))
  return header + marked.join('')
}
