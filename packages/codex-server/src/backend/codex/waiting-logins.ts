import type { Bridge } from '@parley/codex'
import { BackendError } from '@parley/codex/port'
import * as z from 'zod'
import type { Account, LoginEnd } from '../backend.ts'
import { asked } from './asked.ts'

const LoginAnswer = z.object({ loginId: z.string(), authUrl: z.string() })

/** Codex itself gives up after ten minutes; one that is started again never tells. */
const LOGIN_MS = 11 * 60_000
/** Ends that came before anybody knew the id. */
const EARLY_MAX = 16
const WAITING_MAX = 16

/** Sign-ins in the browser that somebody waits for. */
export class WaitingLogins {
  readonly #waiting = new Map<string, (end: LoginEnd) => void>()
  readonly #early = new Map<string, LoginEnd>()
  readonly #bridge: Bridge
  readonly #stop: () => void

  /** `endMethod` is the notification that tells the end of one. */
  constructor(bridge: Bridge, endMethod: string) {
    this.#bridge = bridge
    this.#stop = bridge.onNotification((method, { loginId, success, error }) => {
      if (method !== endMethod || typeof loginId !== 'string') return
      const why = typeof error === 'string' ? error : 'Login failed'
      this.#ended(loginId, success === true ? { success } : { success: false, error: why })
    })
  }

  async begin(...ask: Parameters<typeof asked>[2]): ReturnType<Account['loginChatGpt']> {
    const { loginId, authUrl } = await asked(this.#bridge, LoginAnswer, ask)
    return { loginId, authUrl, done: this.#wait(loginId) }
  }

  has(loginId: string): boolean {
    return this.#waiting.has(loginId)
  }

  close(): void {
    this.#stop()
    for (const settle of [...this.#waiting.values()]) settle({ success: false, error: 'Login was not completed' })
  }

  /** Settles once, whatever becomes of Codex. */
  #wait(loginId: string): Promise<LoginEnd> {
    const early = this.#early.get(loginId)
    if (early !== undefined) {
      this.#early.delete(loginId)
      return Promise.resolve(early)
    }
    if (this.#waiting.size >= WAITING_MAX)
      throw new BackendError('too_many', `${WAITING_MAX} sign-ins are under way: cancel one first`)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#ended(loginId, { success: false, error: 'Login timed out' }), LOGIN_MS)
      timer.unref()
      this.#waiting.set(loginId, (end) => {
        clearTimeout(timer)
        this.#waiting.delete(loginId)
        resolve(end)
      })
    })
  }

  #ended(loginId: string, end: LoginEnd): void {
    const settle = this.#waiting.get(loginId)
    if (settle !== undefined) return settle(end)
    const [oldest] = this.#early.keys()
    if (this.#early.size >= EARLY_MAX && oldest !== undefined) this.#early.delete(oldest)
    this.#early.set(loginId, end)
  }
}

export const unknownLogin = (loginId: string, cause?: unknown): BackendError =>
  new BackendError('invalid_request', `login id not found: ${loginId}`, { data: { param: 'loginId' }, cause })
