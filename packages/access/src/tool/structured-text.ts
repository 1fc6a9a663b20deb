/** An answer longer than this is not told a second time as text. */
const TEXT_COPY_CHARS = 2 * 1024 * 1024

/** The result of a tool, as the text of MCP's: structured, and as text for who does not read that. */
export function structuredText(result: object): string {
  const structured = JSON.stringify(result)
  // Twice a large answer would be more than a message may hold; who cannot read it structured has smaller questions.
  const rendered = structured.length <= TEXT_COPY_CHARS ? structured : `${structured.length} characters, in structuredContent`
  return `{"content":[{"type":"text","text":${JSON.stringify(rendered)}}],"structuredContent":${structured}}`
}
