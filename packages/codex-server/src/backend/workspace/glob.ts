/** Longer patterns match nothing: no path is as long. */
const PATTERN_BYTES_MAX = 4_096

/** One step of a pattern. `star` stays within a name, `deep` is any number of whole folders, `rest` anything at all. */
type Step =
  | { readonly kind: 'byte'; readonly byte: number }
  | { readonly kind: 'any' | 'star' | 'deep' | 'rest' }
  | { readonly kind: 'set'; readonly has: (byte: number) => boolean }

/** Whether a path, as bytes, fits. */
export type Glob = (path: Uint8Array) => boolean

const SLASH = 0x2f
const BACKSLASH = 0x5c
const STAR = 0x2a
const QUESTION = 0x3f
const OPEN = 0x5b
const CLOSE = 0x5d
const SPECIAL: ReadonlySet<number> = new Set([BACKSLASH, STAR, QUESTION, OPEN])

/**
 * A pattern as git reads it. All ways through it are followed at once, so that a path costs at most its own length times
 * that of the pattern, however many stars there are. Undefined for one that git takes for broken.
 */
export function globOf(pattern: Uint8Array): Glob | undefined {
  if (pattern.length > PATTERN_BYTES_MAX) return undefined
  const steps = stepsOf(pattern)
  if (steps === undefined) return undefined
  // Most patterns begin or end with letters, and most paths do not fit those.
  const head = literalOf(steps)
  const tail = literalOf(steps.slice(head.length).toReversed()).toReversed()
  const middle = steps.slice(head.length, steps.length - tail.length)
  return (path) => {
    const [from, to] = [head.length, path.length - tail.length]
    if (to < from || !hasAt(path, head, 0) || !hasAt(path, tail, to)) return false
    return middle.length === 0 ? from === to : fits(middle, path.subarray(from, to))
  }
}

/** The letters that the steps begin with. */
function literalOf(steps: readonly Step[]): readonly number[] {
  const end = steps.findIndex(({ kind }) => kind !== 'byte')
  return steps.slice(0, end === -1 ? steps.length : end).flatMap((step) => (step.kind === 'byte' ? [step.byte] : []))
}

const hasAt = (path: Uint8Array, bytes: readonly number[], from: number): boolean =>
  bytes.every((byte, at) => path[from + at] === byte)

function fits(steps: readonly Step[], path: Uint8Array): boolean {
  let here = new Uint8Array(steps.length + 1)
  let next = new Uint8Array(steps.length + 1)
  enter(steps, here, 0)
  for (const byte of path) {
    next.fill(0)
    let isAlive = false
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at]
      if (here[at] !== 1 || step === undefined) continue
      const onward = advance(step, byte)
      if (onward.stays) next[at] = 1
      if (onward.moves) enter(steps, next, at + 1)
      isAlive ||= onward.stays || onward.moves
    }
    if (!isAlive) return false
    ;[here, next] = [next, here]
  }
  return here[steps.length] === 1
}

/** A place, and those behind it that need nothing to be reached. */
function enter(steps: readonly Step[], places: Uint8Array, from: number): void {
  for (let at = from; ; at++) {
    places[at] = 1
    const kind = steps[at]?.kind
    if (kind !== 'star' && kind !== 'deep' && kind !== 'rest') return
  }
}

function advance(step: Step, byte: number): { readonly stays: boolean; readonly moves: boolean } {
  switch (step.kind) {
    case 'byte':
      return { stays: false, moves: step.byte === byte }
    case 'any':
      return { stays: false, moves: byte !== SLASH }
    case 'set':
      return { stays: false, moves: byte !== SLASH && step.has(byte) }
    case 'star':
      return { stays: byte !== SLASH, moves: byte !== SLASH }
    case 'deep':
      return { stays: true, moves: byte === SLASH }
    case 'rest':
      return { stays: true, moves: true }
  }
}

function stepsOf(pattern: Uint8Array): readonly Step[] | undefined {
  const steps: Step[] = []
  for (let at = 0; at < pattern.length; at++) {
    const byte = pattern[at] ?? 0
    if (byte === STAR) {
      const { step, length } = starsAt(pattern, at)
      steps.push(step)
      at += length - 1
    } else if (byte === OPEN) {
      const set = setAt(pattern, at)
      if (set === undefined) return undefined
      steps.push({ kind: 'set', has: set.has })
      at = set.end
    } else if (byte === BACKSLASH) {
      at += 1
      const escaped = pattern[at]
      if (escaped === undefined) return undefined
      steps.push({ kind: 'byte', byte: escaped })
    } else steps.push(byte === QUESTION ? { kind: 'any' } : { kind: 'byte', byte })
  }
  return steps
}

/**
 * Two or more stars that are a whole name between slashes go beyond one name; elsewhere they are one. Git takes off what
 * stands before the first special letter, so that the first stars of a pattern count as the beginning of a name.
 */
function starsAt(pattern: Uint8Array, at: number): { readonly step: Step; readonly length: number } {
  let end = at
  while (pattern[end] === STAR) end += 1
  const isFirst = !pattern.subarray(0, at).some((byte) => SPECIAL.has(byte))
  const isWhole = end - at > 1 && (isFirst || pattern[at - 1] === SLASH)
  if (isWhole && end === pattern.length) return { step: { kind: 'rest' }, length: end - at }
  if (isWhole && pattern[end] === SLASH) return { step: { kind: 'deep' }, length: end - at + 1 }
  return { step: { kind: 'star' }, length: end - at }
}

/** What is between brackets; undefined where they do not close. `end` is the place of the closing one. */
function setAt(pattern: Uint8Array, open: number): { readonly has: (byte: number) => boolean; readonly end: number } | undefined {
  const first = pattern[open + 1]
  const isNegated = first === 0x21 || first === 0x5e
  const start = open + (isNegated ? 2 : 1)
  const bytes = new Uint8Array(256)
  let previous: number | undefined
  for (let at = start; at < pattern.length; at++) {
    let byte = pattern[at] ?? 0
    if (byte === CLOSE && at > start) return { has: (one) => (bytes[one] === 1) !== isNegated, end: at }
    const isRange = byte === 0x2d && previous !== undefined && at + 1 < pattern.length && pattern[at + 1] !== CLOSE
    if (isRange) {
      at += 1
      if (pattern[at] === BACKSLASH) at += 1
      if (at >= pattern.length) return undefined
      bytes.fill(1, Math.min(previous ?? 0, 256), Math.max((pattern[at] ?? 0) + 1, previous ?? 0))
      previous = undefined
      continue
    }
    if (byte === OPEN && pattern[at + 1] === 0x3a) {
      const named = classAt(pattern, at)
      if (named === 'broken') return undefined
      if (named !== undefined) {
        for (let one = 0; one < 128; one++) if (named.has(String.fromCharCode(one))) bytes[one] = 1
        at = named.end
        previous = undefined
        continue
      }
    }
    if (byte === BACKSLASH) {
      at += 1
      if (at >= pattern.length) return undefined
      byte = pattern[at] ?? 0
    }
    bytes[byte] = 1
    previous = byte
  }
  return undefined
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  // oxlint-disable-next-line no-control-regex -- that is what the class is.
  cntrl: /[\u0000-\u001f\u007f]/,
  digit: /\d/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
}

/** `[:digit:]`; undefined where it is no class but a bracket. */
function classAt(pattern: Uint8Array, at: number) {
  const close = pattern.indexOf(CLOSE, at + 2)
  if (close === -1) return 'broken'
  if (close - at < 3 || pattern[close - 1] !== 0x3a) return undefined
  const one = CLASSES[Buffer.from(pattern.subarray(at + 2, close - 1)).toString('latin1')]
  return one === undefined ? 'broken' : { has: (letter: string) => one.test(letter), end: close }
}
