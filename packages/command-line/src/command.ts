import type { Io } from './io.ts'

/** One `--option`. With `value` it takes one, shown by that name in the help; without it is a switch. */
export interface OptionSpec {
  readonly doc: string
  readonly value?: string
  readonly short?: string
  /** What shells offer, and nothing else is accepted, unless it may be a file too. */
  readonly choices?: readonly string[]
  /** Shells offer files. */
  readonly isFile?: true
  /** What it may mean that it came empty, as it does from `"$(which codex)"`. */
  readonly whenEmpty?: string
  /** May be given more than once; `Values.all` has them all, in order. */
  readonly repeats?: true
}

export interface PositionalSpec {
  readonly name: string
  readonly doc: string
  readonly choices?: readonly string[]
  readonly isFile?: true
  readonly optional?: true
}

/** One command as data. Parsing, help and completion are made from it. */
export interface CommandSpec {
  /** The words that select it: `up`, `user add`. */
  readonly name: string
  /** One line in lists. */
  readonly summary: string
  /** What belongs to it and does not fit into the line. */
  readonly more?: string
  readonly options: Readonly<Record<string, OptionSpec>>
  readonly positionals?: readonly PositionalSpec[]
  /** What comes after `--`, by the name shown in the help. */
  readonly rest?: string
  /** Lines at the end of the help. */
  readonly notes?: readonly string[]
  /** Answers the exit code. Loaded when it is called, so that a small command stays small. */
  readonly run: (invocation: Invocation) => Promise<number>
}

/** Commands that belong together, in the order in which one needs them. */
export interface CommandGroup {
  /** For `parley help NAME`. */
  readonly name: string
  readonly title: string
  readonly commands: readonly CommandSpec[]
}

/** A command line that fits its command. */
export interface Invocation {
  readonly io: Io
  readonly values: Values
  readonly positionals: readonly string[]
  /** What came after `--`. */
  readonly rest: readonly string[]
}

/** The options as they were given. */
export class Values {
  readonly #given: ReadonlyMap<string, readonly string[] | true>
  constructor(given: ReadonlyMap<string, readonly string[] | true>) {
    this.#given = given
  }
  /** The last one given. */
  text(name: string): string | undefined {
    return this.all(name).at(-1)
  }
  all(name: string): readonly string[] {
    const value = this.#given.get(name)
    return value === undefined || value === true ? [] : value
  }
  has(name: string): boolean {
    return this.#given.has(name)
  }
}

/** These work everywhere. */
export const COMMON_OPTIONS = {
  help: { doc: 'says what the command does and takes', short: 'h' },
} as const satisfies Record<string, OptionSpec>
