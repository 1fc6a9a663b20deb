/** Too many are waiting already; come back later. */
export class LanesFull extends Error {
  readonly code = 'overloaded'
  constructor() {
    super('too many requests of this kind are waiting')
    this.name = 'LanesFull'
  }
}

/** Runs a few pieces of work at once and lets a bounded number wait in order. */
export interface Lanes {
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export function openLanes(bounds: { readonly atOnce: number; readonly waiting: number }): Lanes {
  const queue: (() => void)[] = []
  let running = 0
  const enter = (): Promise<void> | undefined => {
    if (running < bounds.atOnce) {
      running += 1
      return undefined
    }
    if (queue.length >= bounds.waiting) throw new LanesFull()
    return new Promise((resolve) => queue.push(resolve))
  }
  const leave = () => {
    const next = queue.shift()
    // The place goes straight to whoever waited longest, so `running` stays.
    if (next === undefined) running -= 1
    else next()
  }
  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
