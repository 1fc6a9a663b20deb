/** One number and what it counts. */
export interface Series {
  readonly labels: readonly string[]
  value: number
}

/** Numbers that only grow, by the values of their labels. Bounded: label values come from fixed sets, never from clients. */
export class Counter {
  readonly name: string
  readonly help: string
  readonly #labels: readonly string[]
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string, labels: readonly string[]) {
    this.name = name
    this.help = help
    this.#labels = labels
  }

  add(amount: number, ...labels: readonly string[]): void {
    this.series(labels).value += amount
  }

  /** The number behind these labels, for hot paths that keep it and add to it themselves. */
  series(labels: readonly string[]): Series {
    const key = labels.join('|')
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const made: Series = { labels, value: 0 }
    if (this.#series.size < SERIES_MAX) this.#series.set(key, made)
    return made
  }

  render(): string {
    let text = `# HELP ${this.name} ${this.help}\n# TYPE ${this.name} counter\n`
    for (const { labels, value } of this.#series.values()) text += `${this.name}${labelText(this.#labels, labels)} ${value}\n`
    return text
  }
}

/** How long things took, in buckets of seconds. */
export class Histogram {
  readonly name: string
  readonly help: string
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #count = 0
  #sum = 0

  constructor(name: string, help: string, boundsSeconds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = boundsSeconds
    this.#counts = boundsSeconds.map(() => 0)
  }

  observe(seconds: number): void {
    this.#count += 1
    this.#sum += seconds
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
  }

  render(): string {
    let text = `# HELP ${this.name} ${this.help}\n# TYPE ${this.name} histogram\n`
    let total = 0
    for (const [index, bound] of this.#bounds.entries()) {
      total += this.#counts[index] ?? 0
      text += `${this.name}_bucket{le="${bound}"} ${total}\n`
    }
    return `${text}${this.name}_bucket{le="+Inf"} ${this.#count}\n${this.name}_sum ${this.#sum}\n${this.name}_count ${this.#count}\n`
  }
}

export function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`
}

const SERIES_MAX = 2_000

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  return `{${names.map((name, index) => `${name}="${(values[index] ?? '').replaceAll(/[\\"\n]/g, '_')}"`).join(',')}}`
}
