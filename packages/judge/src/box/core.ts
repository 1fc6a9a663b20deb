import type { Box, Sandbox } from '@parley/sandbox'

/** What boxes are used for: a program under judgement never shares one with a program of the problem's author. */
export type BoxUse = 'program' | 'author'

/** The boxes of one core. At most one of its users is at work at a time. */
export class Core {
  readonly #sandbox: Sandbox
  readonly #boxes = new Map<BoxUse, Box>()

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  /** The box for a use, opened when it is first needed. */
  box(use: BoxUse): Box | Promise<Box> {
    return this.#boxes.get(use) ?? this.#open(use)
  }

  async #open(use: BoxUse): Promise<Box> {
    const box = await this.#sandbox.openBox({ kind: 'judge' })
    this.#boxes.set(use, box)
    return box
  }

  /** Gives up boxes in which something of our own went wrong; the next use opens fresh ones. */
  async renew(): Promise<void> {
    const boxes = [...this.#boxes.values()]
    this.#boxes.clear()
    await Promise.allSettled(boxes.map((box) => box.close()))
  }

  async close(): Promise<void> {
    await this.renew()
  }
}
