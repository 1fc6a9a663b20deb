import { openProcesses } from './open-processes.ts'
import type { Processes, ProcessSpec, RunningProcess } from './processes.ts'

/** Processes whose spawner starts with the first of them. Ours and all that they started end with us, also by `kill -9`. */
export class LazyProcesses {
  readonly #max: number
  #opening: Promise<Processes> | undefined
  #isClosed = false

  constructor(max: number) {
    this.#max = max
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    return (await this.open()).start(spec)
  }

  open(): Promise<Processes> {
    if (this.#isClosed) return Promise.reject(new Error('the server is ending'))
    this.#opening ??= openProcesses({ maxProcesses: this.#max })
    return this.#opening
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    const processes = await this.#opening?.catch(() => undefined)
    await processes?.close(graceMs)
  }
}
