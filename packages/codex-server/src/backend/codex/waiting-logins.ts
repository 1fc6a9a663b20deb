import { BackendError } from '@parley/codex/port'
import type { LoginEnd } from '../backend.ts'

/** Codex itself gives up after ten minutes; one that is started again never tells. */
const LOGIN_MS = 11 * 60_000
/** Ends that came before anybody knew the id. */
const EARLY_MAX = 16
const WAITING_MAX = 16

/** Sign-ins in the browser that somebody waits for. */
export class WaitingLogins {
  readonly #waiting = new Map<string, (end: LoginEnd) => void>()
  readonly #early = new Map<string, LoginEnd>()

  /** Settles once, whatever becomes of Codex. */
  wait(loginId: string): Promise<LoginEnd> {
    const early = this.#early.get(loginId)
    if (early !== undefined) {
      this.#early.delete(loginId)
      return Promise.resolve(early)
    }
    if (this.#waiting.size >= WAITING_MAX)
      throw new BackendError('too_many', `${WAITING_MAX} sign-ins are under way: cancel one first`)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.ended(loginId, { success: false, error: 'Login timed out' }), LOGIN_MS)
      timer.unref()
      this.#waiting.set(loginId, (end) => {
        clearTimeout(timer)
        this.#waiting.delete(loginId)
        resolve(end)
      })
    })
  }

  has(loginId: string): boolean {
    return this.#waiting.has(loginId)
  }

  ended(loginId: string, end: LoginEnd): void {
    const settle = this.#waiting.get(loginId)
    if (settle !== undefined) return settle(end)
    const [oldest] = this.#early.keys()
    if (this.#early.size >= EARLY_MAX && oldest !== undefined) this.#early.delete(oldest)
    this.#early.set(loginId, end)
  }

  close(): void {
    for (const settle of [...this.#waiting.values()]) settle({ success: false, error: 'Login was not completed' })
  }
}
