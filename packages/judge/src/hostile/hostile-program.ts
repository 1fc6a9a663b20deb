import type { Language, Verdict } from '@parley/protocol'

/** A program that means harm, and what must become of it. */
export interface HostileProgram {
  /** A file below `fixtures/hostile`. Words like `@SECRET_FILE@` in it are replaced by what they name on this machine. */
  readonly file: string
  readonly language: Language
  readonly tries: string
  /** Any of these is right; most have one. A program that reports `denied` when nothing worked is right with `AC`. */
  readonly verdicts: readonly Verdict[]
  readonly timeMs?: number
  readonly memoryMb?: number
  readonly outputBytes?: number
  /** The size of its input; a line by default. */
  readonly inputBytes?: number
  /** How many times it is run; the second must find nothing of the first. */
  readonly cases?: number
  /** It waits for the clock: those are judged side by side, to save time. */
  readonly idle?: true
}
