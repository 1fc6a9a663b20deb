/** Bounds of one condition; its length is bounded where policies are read. */
export const CEL_LIMITS = {
  /** Brackets inside of each other: the parser goes as deep as they do. */
  brackets: 32,
  /** Parts of the expression after macros are written out. */
  nodes: 400,
  /** Macros (`all`, `map`, …) inside of each other. */
  loops: 2,
  /** The longest pattern of `matches`, and how many instructions it may become. */
  patternChars: 256,
  patternSize: 500,
  /** What one evaluation may cost. A part of a loop's body costs 1 each time, characters a fraction of it. */
  cost: 100_000,
  /** How many characters of a text cost 1: looked through, counted, or copied. */
  charsPerCost: 32,
  /** Instructions times characters of `matches` that cost 1. */
  matchPerCost: 32,
  /** What a text may have to be read as a number or a time. */
  convertedChars: 64,
} as const
