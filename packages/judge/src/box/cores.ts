import type { Sandbox } from '@parley/sandbox'
import { SharedPlaces } from './shared-places.ts'
import { Core } from './core.ts'

/** The cores of this judge. Who wants all of them runs alone. */
export class Cores extends SharedPlaces<Core> {
  readonly #cores: readonly Core[]

  constructor(sandbox: Sandbox, count: number, now?: () => number) {
    const cores = Array.from({ length: count }, () => new Core(sandbox))
    super(cores, now)
    this.#cores = cores
  }

  async close(): Promise<void> {
    this.refuseAll()
    await Promise.all(this.#cores.map((core) => core.close()))
  }
}
