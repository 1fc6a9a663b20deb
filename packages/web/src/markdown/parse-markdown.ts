/** A piece of a line. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'bold'; readonly text: string }

export type Block =
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'heading'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }

const FENCE = /^\s*(`{3,}|~{3,})/
const HEADING = /^#{1,6}\s+(.*)$/
const BULLET = /^\s*[-*+]\s+(.*)$/
const NUMBER = /^\s*\d{1,9}[.)]\s+(.*)$/
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*/g

/** Reads the little Markdown that explanations are written in. Everything else stays the text that it is. */
export function parseMarkdown(text: string): readonly Block[] {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    const { block, next } = line.trim() === '' ? { block: undefined, next: at + 1 } : readBlock(lines, at, line)
    if (block !== undefined) blocks.push(block)
    at = next
  }
  return blocks
}

interface Read {
  readonly block: Block | undefined
  readonly next: number
}

function readBlock(lines: readonly string[], at: number, line: string): Read {
  const fence = FENCE.exec(line)?.[1]
  if (fence !== undefined) return readFence(lines, at, fence)
  const heading = HEADING.exec(line)?.[1]
  if (heading !== undefined) return { block: { kind: 'heading', inlines: parseInline(heading) }, next: at + 1 }
  if (BULLET.test(line)) return readList(lines, at, BULLET, false)
  if (NUMBER.test(line)) return readList(lines, at, NUMBER, true)
  const { text, next } = readOn(lines, at + 1, line)
  return { block: { kind: 'paragraph', inlines: parseInline(text) }, next }
}

function readFence(lines: readonly string[], at: number, fence: string): Read {
  const body: string[] = []
  let next = at + 1
  // Without an end it goes on to the end: it may be still being written.
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    if (isFenceEnd(line.trim(), fence)) break
    body.push(line)
  }
  return { block: { kind: 'code', text: body.join('\n') }, next: next + 1 }
}

const isFenceEnd = (line: string, fence: string): boolean =>
  line.length >= fence.length && line === fence.charAt(0).repeat(line.length)

function readList(lines: readonly string[], start: number, marker: RegExp, isOrdered: boolean): Read {
  const items: (readonly Inline[])[] = []
  let at = start
  for (;;) {
    const item = marker.exec(lines[at] ?? '')?.[1]
    if (item === undefined) return { block: { kind: 'list', isOrdered, items }, next: at }
    const { text, next } = readOn(lines, at + 1, item)
    items.push(parseInline(text))
    at = next
  }
}

/** Lines that belong to the one before them. */
function readOn(lines: readonly string[], from: number, first: string): { readonly text: string; readonly next: number } {
  const parts = [first.trim()]
  let next = from
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    if (line.trim() === '' || [FENCE, HEADING, BULLET, NUMBER].some((start) => start.test(line))) break
    parts.push(line.trim())
  }
  return { text: parts.join('\n'), next }
}

export function parseInline(text: string): readonly Inline[] {
  const inlines: Inline[] = []
  let at = 0
  for (const found of text.matchAll(INLINE)) {
    if (found.index > at) inlines.push({ kind: 'text', text: text.slice(at, found.index) })
    const [whole, code, bold] = found
    inlines.push(code === undefined ? { kind: 'bold', text: bold ?? '' } : { kind: 'code', text: code })
    at = found.index + whole.length
  }
  if (at < text.length) inlines.push({ kind: 'text', text: text.slice(at) })
  return inlines
}
