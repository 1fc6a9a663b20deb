import { type JsonObject, messageOf } from '@parley/protocol/wire'
import type { Account, AuthStatus, LoginEnd } from '../backend/backend.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { LOGINS_MAX } from './bounds.ts'

/** A notification waits for the answers that have to go first. */
interface Login {
  answered: Promise<void>
}

export interface LoginsOptions {
  readonly tell: (method: string, params: JsonObject) => void
  readonly note: (line: string) => void
}

/** ChatGPT sign-ins under way. */
export class Logins {
  readonly #options: LoginsOptions
  readonly #logins = new Map<string, Login>()

  constructor(options: LoginsOptions) {
    this.#options = options
  }

  /** `answered` settles when the client knows the id. */
  async begin(account: Account, answered: Promise<void>): Promise<{ readonly loginId: string; readonly authUrl: string }> {
    if (this.#logins.size >= LOGINS_MAX)
      throw new RemoteFailure('invalid_request', `${LOGINS_MAX} sign-ins are under way: cancel some first`)
    const { loginId, authUrl, done } = await account.loginChatGpt()
    this.#logins.set(loginId, { answered })
    void this.#follow(account, loginId, done)
    return { loginId, authUrl }
  }

  async cancel(account: Account, loginId: string, answered: Promise<void>): Promise<void> {
    const login = this.#logins.get(loginId)
    // Set before the backend is asked: the end may be told before it answers.
    if (login !== undefined) login.answered = Promise.all([login.answered, answered]).then(() => undefined)
    await account.cancelLogin(loginId)
  }

  async #follow(account: Account, loginId: string, done: Promise<LoginEnd>): Promise<void> {
    const { tell, note } = this.#options
    try {
      const end = await done
      await this.#logins.get(loginId)?.answered
      const error = end.success ? undefined : end.error
      tell('loginChatGptComplete', { loginId, success: end.success, error })
      if (end.success) tell('authStatusChange', authMethod(await account.status({ includeToken: false, refreshToken: false })))
    } catch (error) {
      note(`the end of a sign-in could not be told: ${messageOf(error)}`)
    } finally {
      this.#logins.delete(loginId)
    }
  }
}

/** Left out when nobody is signed in. */
export const authMethod = ({ method }: AuthStatus): JsonObject => ({ authMethod: method ?? undefined })
