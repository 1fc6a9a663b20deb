/** Bounds of conditions, and of what a decision may cost; the length of conditions is bounded where policies are read. */
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
  /**
   * What one decision may cost, over all rules of all layers. 1 is about 0.1 µs, so that all of it is some 5 ms: a part of an expression
   * each time it is evaluated, a value of the arguments, a turn of a loop.
   */
  cost: 50_000,
  /** Rules and patterns that are looked through for a name, and characters of it for each pattern, that cost 1. */
  patternsPerCost: 4,
  patternCharsPerCost: 2_048,
  /** How many characters of a text cost 1: looked through, counted, or copied. */
  charsPerCost: 32,
  /** Instructions times characters of `matches` that cost 1: the worst patterns take 60 ns for each. */
  matchPerCost: 4,
  /** What macros gather grows item by item, each of which costs so much. */
  appendCost: 3,
  /** What a text may have to be read as a number or a time. */
  convertedChars: 64,
} as const
