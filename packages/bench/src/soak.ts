import type { Needs } from './needs.ts'

/** One long run. The same seed does the same things in the same order, as far as the machine lets it. */
export interface Soak {
  readonly name: string
  readonly summary: string
  readonly needs: Needs
  run(options: SoakOptions): Promise<SoakResult>
}

/** What takes part in a soak as the agent: one that takes its turns here, or a program that comes with its token. */
export const SOAK_SIDES = ['external', 'local'] as const
export type SoakSide = (typeof SOAK_SIDES)[number]

export interface SoakOptions {
  readonly seed: number
  /** 1 is the full form; tests run a small share of it. */
  readonly share: number
  /** How many rounds, where it has rounds; left out: as the share says. */
  readonly rounds?: number
  /** How many schedules, where it has these; left out: as the share says. */
  readonly schedules?: number
  /** Which side of several, where it has sides; left out: all of them. */
  readonly side?: SoakSide
  readonly log: (line: string) => void
}

export interface SoakResult {
  /** What the harness did and what it saw, counted. */
  readonly counts: Readonly<Record<string, number>>
  /** Empty when everything held. */
  readonly problems: readonly string[]
}

const PROBLEMS_KEPT = 20

/** Counts by name, and keeps the first problems; a soak that goes wrong goes wrong often. */
export class Tally {
  readonly #counts = new Map<string, number>()
  readonly #problems: string[] = []

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }

  /** How many problems so far, those that are not kept among them. */
  get problems(): number {
    return this.#counts.get('problems') ?? 0
  }

  problem(text: string): void {
    this.count('problems')
    if (this.#problems.length < PROBLEMS_KEPT) this.#problems.push(text)
  }

  expect(holds: boolean, text: string): void {
    if (!holds) this.problem(text)
  }

  result(): SoakResult {
    return { counts: Object.fromEntries(this.#counts), problems: this.#problems }
  }
}
