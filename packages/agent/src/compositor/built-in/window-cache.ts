import type { ByteShare } from '@parley/protocol'
import type { CompositorLimits } from '../compositor-limits.ts'
import type { ResourceContent } from '../shown/resource-content.ts'

interface Kept {
  readonly content: ResourceContent
  readonly until: number
}

/** Contents of which more windows may be read: a reader finds the version it began with, and the server is asked once. */
export class WindowCache {
  readonly #limits: Pick<CompositorLimits, 'windowCacheBytes' | 'windowCacheMs'>
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()
  readonly #share: ByteShare | undefined
  #bytes = 0

  constructor(limits: Pick<CompositorLimits, 'windowCacheBytes' | 'windowCacheMs'>, now: () => number, share?: ByteShare) {
    this.#limits = limits
    this.#share = share
    this.#now = now
  }

  get(key: string): ResourceContent | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.until > this.#now()) return kept?.content
    this.forget(key)
    return undefined
  }

  put(key: string, content: ResourceContent): void {
    this.forget(key)
    if (content.bytes > this.#limits.windowCacheBytes) return
    this.#kept.set(key, { content, until: this.#now() + this.#limits.windowCacheMs })
    this.#bytes += content.bytes
    // The oldest go first.
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#limits.windowCacheBytes) break
      this.forget(oldest)
    }
    // Where there is no room beside what others keep, the server is asked again for each window.
    if (this.#share?.hold(this.#bytes) === false) this.forget(key)
  }

  /** Nobody reads on any more. */
  close(): void {
    for (const key of this.#kept.keys()) this.forget(key)
  }

  forget(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    this.#bytes -= kept.content.bytes
    this.#share?.hold(this.#bytes)
  }
}
