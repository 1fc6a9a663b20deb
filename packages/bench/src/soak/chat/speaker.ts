import { setTimeout as wait } from 'node:timers/promises'
import type { SeededRandom } from '../random.ts'
import type { Said } from './check-chat.ts'

const PAUSE_MS = { least: 0, most: 500 }
const POLL_MS = 20

/** Says one thing; answers its place, or `undefined` where no answer came and it may not be sent again. */
export type Say = (text: string, key: string) => Promise<number | undefined>

/** Somebody who says one thing after the other, as many as they are let: the same seed says the same. */
export class Speaker {
  readonly name: string
  readonly said: Said[] = []
  readonly #say: Say
  readonly #random: SeededRandom
  readonly #ended = new AbortController()
  #allowed = 0
  #answered = 0
  #running: Promise<void> = Promise.resolve()

  constructor(name: string, random: SeededRandom, say: Say) {
    this.name = name
    this.#random = random
    this.#say = say
  }

  /** Everything that may be said was said, and its fate is known as far as it can be. */
  get isDone(): boolean {
    return this.#answered >= this.#allowed
  }

  allow(more: number): void {
    this.#allowed += more
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      if (this.isDone) await wait(POLL_MS)
      else await this.#one()
    }
  }

  async #one(): Promise<void> {
    await wait(this.#random.between(PAUSE_MS.least, PAUSE_MS.most))
    const text = `${this.name}-${this.said.length + 1}`
    const spoken: Said = { speaker: this.name, text, place: undefined }
    this.said.push(spoken)
    // A key for each text: whoever is not answered says it again under the same.
    spoken.place = await this.#say(text, text)
    this.#answered += 1
  }
}
