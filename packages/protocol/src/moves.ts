/** Which state may follow which. */
export type Moves<State extends string> = Readonly<Record<State, readonly State[]>>

/** Where something stands, and nothing else: a move that its table does not have is a bug, and is thrown as one. */
export class Place<State extends string> {
  readonly #moves: Moves<State>
  #at: State

  constructor(moves: Moves<State>, start: State) {
    this.#moves = moves
    this.#at = start
  }

  get at(): State {
    return this.#at
  }

  may(next: State): boolean {
    return this.#moves[this.#at].includes(next)
  }

  to(next: State): void {
    if (!this.may(next)) throw new Error(`there is no move from ${this.#at} to ${next}`)
    this.#at = next
  }
}
