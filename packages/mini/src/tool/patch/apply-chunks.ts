import { type Chunk, type PatchLine, PatchRejected } from './patch.ts'
import { type FileLine, joinFile, splitFile } from './file-lines.ts'
import { findLines, standAt } from './find-lines.ts'
import { nearestLines } from './nearest-lines.ts'

/** The content after all changes. What the changes only quote stays as the file has it, however the patch spells it. */
export function applyChunks(path: string, content: string, chunks: readonly Chunk[]): string {
  const file = splitFile(content)
  const texts = file.lines.map(({ text }) => text)
  const result: FileLine[] = []
  let reached: Reached = { changed: 0, quoted: 0 }
  for (const [index, chunk] of chunks.entries()) {
    const name = `change ${index + 1} of ${chunks.length} in ${path} (line ${chunk.line} of the patch)`
    const { at, lines } = locate(name, texts, chunk, reached)
    const core = lines.slice(0, lines.findLastIndex(({ kind }) => kind !== 'context') + 1)
    result.push(...file.lines.slice(reached.changed, at))
    let next = at
    for (const line of core) {
      if (line.kind === 'add') result.push({ text: line.text, end: file.end })
      else {
        const kept = file.lines[next++]
        if (line.kind === 'context' && kept !== undefined) result.push(kept)
      }
    }
    reached = { changed: next, quoted: next + lines.length - core.length }
  }
  result.push(...file.lines.slice(reached.changed))
  return joinFile({ ...file, lines: result })
}

/** How far the changes so far went, without and with the lines that the last of them only quotes. */
interface Reached {
  readonly changed: number
  readonly quoted: number
}

interface Located {
  readonly at: number
  readonly lines: readonly PatchLine[]
}

/** Behind what was quoted last; or within it, for two changes so near that both quote what lies between. */
function locate(name: string, texts: readonly string[], chunk: Chunk, { changed, quoted }: Reached): Located {
  try {
    return locateFrom(name, texts, chunk, quoted)
  } catch (error) {
    if (!(error instanceof PatchRejected) || changed === quoted) throw error
    return locateFrom(name, texts, chunk, changed)
  }
}

function locateFrom(name: string, texts: readonly string[], chunk: Chunk, done: number): Located {
  const from = passAnchors(name, texts, chunk.anchors, done)
  if (chunk.lines.every(({ kind }) => kind === 'add'))
    return { at: chunk.anchors.length > 0 && !chunk.atEnd ? from : texts.length, lines: chunk.lines }
  for (const lines of readings(chunk.lines)) {
    const wanted = oldTexts(lines)
    const at = chunk.atEnd ? findAtEnd(texts, wanted, from) : findFrom(texts, wanted, from, chunk.anchors.length > 0, done)
    if (at !== undefined) return { at, lines }
  }
  throw notFound(name, texts, oldTexts(chunk.lines), chunk, done)
}

/** Steps over the lines that lead to the place, in their order. */
function passAnchors(name: string, texts: readonly string[], anchors: readonly string[], done: number): number {
  let from = done
  for (const anchor of anchors) {
    const at = findLines(texts, [anchor], from)
    if (at === undefined)
      throw new PatchRejected(
        `${name}: there is no line ${JSON.stringify(anchor)} ("@@") after line ${from} of the file${nearestLines(texts, [anchor])}`,
      )
    from = at + 1
  }
  return from
}

/** As it is written; then without the empty lines at its end that may only part it from what follows. */
function* readings(lines: readonly PatchLine[]): Generator<readonly PatchLine[]> {
  yield lines
  let count = lines.length
  while (count > 1 && lines[count - 1]?.bare === true) {
    count--
    const shorter = lines.slice(0, count)
    if (shorter.some(({ kind }) => kind !== 'add')) yield shorter
  }
}

function findFrom(
  texts: readonly string[],
  wanted: readonly string[],
  from: number,
  isAnchored: boolean,
  done: number,
): number | undefined {
  // The line of the anchor is often repeated as the first line of the change.
  if (isAnchored && from > done && standAt(texts, wanted, from - 1)) return from - 1
  return findLines(texts, wanted, from)
}

/** At the very end, or before empty lines there. */
function findAtEnd(texts: readonly string[], wanted: readonly string[], from: number): number | undefined {
  for (let end = texts.length; end - wanted.length >= from; end--) {
    if (standAt(texts, wanted, end - wanted.length)) return end - wanted.length
    if (texts[end - 1]?.trim() !== '') return undefined
  }
  return undefined
}

function notFound(name: string, texts: readonly string[], wanted: readonly string[], chunk: Chunk, done: number): PatchRejected {
  const earlier = findLines(texts, wanted, 0)
  const before = chunk.anchors.length > 0 ? 'the "@@" line or the change before it' : 'the change before it'
  if (earlier !== undefined && !chunk.atEnd && earlier < done)
    return new PatchRejected(
      `${name}: its lines stand at line ${earlier + 1}, which is before ${before}: give the changes in the order of the file`,
    )
  const where = chunk.atEnd ? 'do not stand at the end of the file' : 'are not in the file'
  return new PatchRejected(`${name}: these lines ${where}:\n${quoted(wanted)}${nearestLines(texts, wanted)}`)
}

const QUOTED_LINES = 12

function quoted(lines: readonly string[]): string {
  const shown = lines.slice(0, QUOTED_LINES).map((line) => `  ${line}`)
  return [...shown, ...(lines.length > QUOTED_LINES ? [`  … ${lines.length - QUOTED_LINES} more lines`] : [])].join('\n')
}

const oldTexts = (lines: readonly PatchLine[]): string[] => lines.flatMap(({ kind, text }) => (kind === 'add' ? [] : [text]))
