/** Every bound of an agent's turns, by name. Tests shorten the times. */
export interface TurnLimits {
  /** How long the gateway may take to give a key. */
  readonly prepareMs: number
  /** How long an engine may take to open, and to stop before it is left to itself. */
  readonly openMs: number
  readonly interruptMs: number
  /** One turn, where its budget says nothing. */
  readonly turnMs: number
  /** Beyond the time of its budget, which the engine keeps itself. */
  readonly graceMs: number
  /** What of one text stands in a line of the transcript, and what a line may have in all. */
  readonly textChars: number
  readonly lineChars: number
  /** Lines that wait for what the engine itself writes down. */
  readonly heldLines: number
  /** What an engine that takes over is told of what was said before. */
  readonly talkChars: number
}

export const TURN_LIMITS: TurnLimits = {
  prepareMs: 60_000,
  openMs: 120_000,
  interruptMs: 3_000,
  turnMs: 24 * 3_600_000,
  graceMs: 10_000,
  textChars: 64 * 1024,
  lineChars: 512 * 1024,
  heldLines: 10_000,
  talkChars: 64 * 1024,
}
