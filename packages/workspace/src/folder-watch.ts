import { type FolderLimits, holdsTooMuch } from './folder-size.ts'

/** How soon a folder is looked at again; where looking takes long, less often. */
const LOOK_MS = 200
const REST_TIMES = 4

/** Ends what writes more into a folder than it may hold. The disk is that of all jobs, and nothing else bounds it. */
export class FolderWatch {
  readonly #folder: string
  readonly #limits: FolderLimits
  constructor(folder: string, limits: FolderLimits) {
    this.#folder = folder
    this.#limits = limits
  }

  /** Whether there is too much already. */
  isOver(): Promise<boolean> {
    return holdsTooMuch(this.#folder, this.#limits)
  }

  /** Runs something that writes there; its signal fires when the folder holds too much. */
  async watch<Value>(run: (full: AbortSignal) => Promise<Value>): Promise<Value> {
    const full = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isDone = false
    const look = async (): Promise<void> => {
      const startedAt = performance.now()
      if (await this.isOver()) return full.abort()
      const waitMs = Math.max(LOOK_MS, REST_TIMES * (performance.now() - startedAt))
      if (!isDone) timer = setTimeout(() => void look(), waitMs)
    }
    timer = setTimeout(() => void look(), LOOK_MS)
    try {
      return await run(full.signal)
    } finally {
      isDone = true
      clearTimeout(timer)
    }
  }
}
