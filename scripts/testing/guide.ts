/** One thing that a section of a guide tells the reader to do. */
export type Act =
  | { readonly kind: 'create'; readonly path: string; readonly text: string }
  | { readonly kind: 'change'; readonly path: string; readonly diff: readonly string[] }
  | { readonly kind: 'run'; readonly command: string }

const FENCE = /^( *)```(\w+)$/
const PATH = /(?:In|New file)\s+`([^`]+\.\w+)`:?\s*$/

/** The acts of the section with this heading, in order. A block belongs to the path that was named last before it. */
export function readSection(guide: string, heading: string): readonly Act[] {
  const lines = sectionLines(guide, heading)
  const acts: Act[] = []
  let prose = ''
  let path: string | undefined
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const fence = FENCE.exec(line)
    if (fence === null) {
      prose += `${line.trim()} `
      continue
    }
    path = PATH.exec(prose.trimEnd())?.[1] ?? path
    prose = ''
    const end = lines.indexOf(`${fence[1] ?? ''}\`\`\``, at)
    const body = lines.slice(at + 1, end).map((text) => text.slice(fence[1]?.length ?? 0))
    acts.push(...actsOf(fence[2] ?? '', path, body))
    at = end
  }
  return acts
}

/** The text with a diff applied. Every line that is not added must be found, in one run, at exactly one place. */
export function applyDiff(text: string, diff: readonly string[]): string {
  const before = diff.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
  const after = diff.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
  const lines = text.split('\n')
  const places = lines
    .keys()
    .filter((at) => before.every((line, index) => lines[at + index] === line))
    .toArray()
  const [place] = places
  if (place === undefined || places.length > 1)
    throw new Error(`found ${places.length} times instead of once:\n${before.join('\n')}`)
  return lines.toSpliced(place, before.length, ...after).join('\n')
}

function sectionLines(guide: string, heading: string): readonly string[] {
  const lines = guide.split('\n')
  const start = lines.indexOf(`## ${heading}`)
  if (start === -1) throw new Error(`the guide has no section "${heading}"`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length)
}

function actsOf(language: string, path: string | undefined, body: readonly string[]): readonly Act[] {
  if (language === 'sh') return body.map((command) => ({ kind: 'run', command }))
  if (path === undefined) throw new Error(`a block of ${language} belongs to no file`)
  if (language === 'diff') return [{ kind: 'change', path, diff: body.map((line) => (line === '' ? ' ' : line)) }]
  return [{ kind: 'create', path, text: `${body.join('\n')}\n` }]
}
