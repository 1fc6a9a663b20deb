/** How much of what somebody else says is written to a log. */
interface LogBounds {
  /** Lines within the time, and characters of them all. */
  readonly lines: number
  readonly chars: number
  readonly everyMs: number
  /** A longer line is cut. */
  readonly lineChars: number
}

const FOREIGN_LOG: LogBounds = { lines: 200, chars: 64 * 1024, everyMs: 60_000, lineChars: 8 * 1024 }

/** The lines that one stranger has in a log: past a bound they are counted, and told in one line when the time is over. */
export class LogBudget {
  readonly #write: (line: string) => void
  readonly #bounds: LogBounds
  #lines = 0
  #chars = 0
  #leftOut = 0
  #leftOutChars = 0
  #isTimed = false

  constructor(write: (line: string) => void, bounds: LogBounds = FOREIGN_LOG) {
    this.#write = write
    this.#bounds = bounds
  }

  say(line: string): void {
    const { lines, chars, everyMs, lineChars } = this.#bounds
    if (!this.#isTimed) setTimeout(() => this.#over(), everyMs).unref()
    this.#isTimed = true
    const shown = line.length > lineChars ? `${line.slice(0, lineChars)}…` : line
    if (this.#lines >= lines || this.#chars + shown.length > chars) {
      this.#leftOut += 1
      this.#leftOutChars += line.length
      return
    }
    this.#lines += 1
    this.#chars += shown.length
    this.#write(shown)
  }

  #over(): void {
    this.#isTimed = false
    const [lines, chars] = [this.#leftOut, this.#leftOutChars]
    this.#lines = this.#chars = this.#leftOut = this.#leftOutChars = 0
    if (lines > 0) this.#write(`${lines} lines of ${chars} characters were left out: it said too much for a log`)
  }
}

/** A log with such a budget for each level, so that a flood of one leaves the others what they say. */
export function budgetedLog<Level extends string>(
  log: (level: Level, line: string) => void,
): (level: Level, line: string) => void {
  const budgets = new Map<Level, LogBudget>()
  return (level, line) => {
    const budget = budgets.get(level) ?? new LogBudget((shown) => log(level, shown))
    budgets.set(level, budget)
    budget.say(line)
  }
}
