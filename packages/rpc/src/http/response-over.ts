import type { ServerResponse } from 'node:http'

/**
 * Tells all who want to know, once, that a response has gone out or its connection is gone. One listener does it for all: of two, Node makes an
 * array, and V8 comes to put those arrays where only a full collection clears them up, with the response and all that belongs to it.
 */
export class ResponseOver {
  #act: (() => void) | undefined

  constructor(response: ServerResponse) {
    response.on('close', () => {
      const act = this.#act
      this.#act = undefined
      act?.()
    })
  }

  /** Done when it is over, after what was handed in before. */
  add(act: () => void): void {
    const before = this.#act
    this.#act =
      before === undefined
        ? act
        : () => {
            before()
            act()
          }
  }
}
