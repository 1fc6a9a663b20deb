import { type Chunk, type PatchLine, PatchRejected, type PatchSection } from './patch.ts'

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const END_OF_FILE = '*** End of File'
const HEADER = /^\*\*\* (Add|Delete|Update) File:\s*(.+)$/
const MOVE = /^\*\*\* Move to:\s*(.+)$/
/** Models that know `diff` put line numbers there; they are often wrong, so the text alone is searched. */
const NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?/

/** Reads a whole patch before anything is done with it. Wrappers that models put around it are taken off. */
export function parsePatch(text: string): readonly PatchSection[] {
  return new Parser(unwrap(text.trim().split(/\r?\n/))).sections()
}

interface Source {
  readonly lines: readonly string[]
  /** The number of the first of them in the text. */
  readonly first: number
}

function unwrap(lines: readonly string[], offset = 1): Source {
  const first = lines[0]?.trim() ?? ''
  const last = lines.at(-1)?.trim() ?? ''
  if (first === BEGIN) {
    if (last === END && lines.length > 1) return { lines: lines.slice(1, -1), first: offset + 1 }
    throw new PatchRejected(`the last line of the patch must be "${END}"; it is ${JSON.stringify(last)}: nothing was changed`)
  }
  const heredoc = /^(?:apply_patch\s+)?<<-?\s*(['"]?)(\w+)\1$/.exec(first)
  const isWrapped = (heredoc !== null && last === heredoc[2]) || (/^```\w*$/.test(first) && last === '```')
  if (isWrapped && lines.length > 2) return unwrap(lines.slice(1, -1), offset + 1)
  throw new PatchRejected(`the first line of the patch must be "${BEGIN}"; it is ${JSON.stringify(first)}`)
}

class Parser {
  readonly #lines: readonly string[]
  readonly #first: number
  #at = 0

  constructor({ lines, first }: Source) {
    this.#lines = lines
    this.#first = first
  }

  sections(): readonly PatchSection[] {
    const sections: PatchSection[] = []
    for (;;) {
      this.#skipBlank()
      const line = this.#peek()
      if (line === undefined) break
      sections.push(this.#section(line.trim()))
    }
    if (sections.length === 0) throw new PatchRejected('the patch changes no file')
    return sections
  }

  #section(header: string): PatchSection {
    const [, kind, path = ''] = HEADER.exec(header) ?? []
    if (kind === undefined)
      throw this.#rejected(
        `${JSON.stringify(header)} is not "*** Add File: PATH", "*** Delete File: PATH" or "*** Update File: PATH"`,
      )
    this.#at++
    if (kind === 'Delete') return { kind: 'delete', path }
    if (kind === 'Add') return { kind: 'add', path, content: this.#added() }
    return this.#update(path)
  }

  #added(): string {
    const lines: string[] = []
    for (;;) {
      const line = this.#peek()
      if (line?.startsWith('+') === true) lines.push(line.slice(1))
      // An empty line before further additions can only be one of them.
      else if (line?.trim() === '' && this.#nextFilled()?.startsWith('+') === true) lines.push('')
      else break
      this.#at++
    }
    return lines.map((line) => `${line}\n`).join('')
  }

  #update(path: string): PatchSection {
    const movedTo = MOVE.exec(this.#peek()?.trim() ?? '')?.[1] ?? null
    if (movedTo !== null) this.#at++
    const chunks: Chunk[] = []
    for (;;) {
      this.#skipBlank()
      const line = this.#peek()
      if (line === undefined || isMarker(line)) break
      chunks.push(this.#chunk(chunks.length === 0))
    }
    if (chunks.length === 0 && movedTo === null) throw this.#rejected(`the update of ${path} has no change`)
    return { kind: 'update', path, movedTo, chunks }
  }

  #chunk(isFirst: boolean): Chunk {
    const line = this.#number()
    const anchors: string[] = []
    let hasMarker = false
    for (let next = this.#peek(); next?.startsWith('@@') === true; next = this.#peek()) {
      hasMarker = true
      const anchor = anchorOf(next)
      if (anchor !== '') anchors.push(anchor)
      this.#at++
    }
    if (!hasMarker && !isFirst)
      throw this.#rejected(`a further change must begin with "@@"; this line is ${JSON.stringify(this.#peek() ?? '')}`)
    const lines = this.#body()
    const atEnd = this.#peek()?.trim() === END_OF_FILE
    if (atEnd) this.#at++
    if (lines.length === 0)
      throw this.#rejected(
        `expected lines that begin with " ", "+" or "-"; this one is ${JSON.stringify(this.#peek() ?? 'the end of the patch')}`,
      )
    return { line, anchors, lines, atEnd }
  }

  #body(): PatchLine[] {
    const lines: PatchLine[] = []
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      const read = bodyLine(line)
      if (read === undefined) break
      lines.push(read)
      this.#at++
    }
    return lines
  }

  #nextFilled(): string | undefined {
    return this.#lines.slice(this.#at).find((line) => line.trim() !== '')
  }

  #skipBlank(): void {
    while (this.#peek()?.trim() === '') this.#at++
  }

  #peek(): string | undefined {
    return this.#lines[this.#at]
  }

  #number(): number {
    return this.#first + this.#at
  }

  #rejected(why: string): PatchRejected {
    return new PatchRejected(`line ${this.#number()} of the patch: ${why}`)
  }
}

function bodyLine(line: string): PatchLine | undefined {
  if (line === '') return { kind: 'context', text: '', bare: true }
  const text = line.slice(1)
  if (line.startsWith('+')) return { kind: 'add', text, bare: false }
  if (line.startsWith('-')) return { kind: 'remove', text, bare: false }
  return line.startsWith(' ') ? { kind: 'context', text, bare: false } : undefined
}

function anchorOf(line: string): string {
  return line.slice(2).trimStart() === '' ? '' : line.slice(line.startsWith('@@ ') ? 3 : 2).replace(NUMBERS, '')
}

const isMarker = (line: string): boolean => line.startsWith('***')
