import { readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isJsonObject, parseJson } from '@parley/protocol'
import { isMissing, syncFolder, writeSecret } from '@parley/codex/config'
import type { Account, AuthStatus } from '../backend.ts'
import { BackendError } from '@parley/codex/port'

export interface AuthFileOptions {
  /** In Codex's shape, for its owner alone. */
  readonly path: string
  /** A key of the environment: it wins over one that is stored. */
  readonly givenKey: string | null
  /** Whether the model cannot be asked without a key. */
  readonly needsKey: boolean
  /** Where models are; null: at the provider's own address. */
  readonly modelAddress: string | null
}

/** The address that a stored key is good for; left out, as in Codex's own file: the provider's. */
const ADDRESS = 'base_url'

/** Who is signed in, on our own engine: nobody, or somebody with an API key. */
export class AuthFile implements Account {
  readonly #options: AuthFileOptions
  /** One after the other: what was asked for last is what is kept. */
  #writing: Promise<void> = Promise.resolve()

  constructor(options: AuthFileOptions) {
    this.#options = options
  }

  /** What models are asked with. */
  async key(): Promise<string | null> {
    return this.#options.givenKey ?? (await this.#stored())
  }

  async status({ includeToken }: { readonly includeToken: boolean }): Promise<AuthStatus> {
    const key = await this.key()
    const requiresOpenaiAuth = this.#options.needsKey
    return { method: key === null ? null : 'apikey', token: includeToken ? key : null, requiresOpenaiAuth }
  }

  email(): Promise<string | null> {
    return Promise.resolve(null)
  }

  async loginApiKey(apiKey: string): Promise<void> {
    if (apiKey.trim() === '') throw new BackendError('invalid_request', 'apiKey must not be empty', { data: { param: 'apiKey' } })
    const { path, modelAddress } = this.#options
    const bound = modelAddress === null ? {} : { [ADDRESS]: modelAddress }
    await this.#write(() => writeSecret(path, `${JSON.stringify({ OPENAI_API_KEY: apiKey.trim(), ...bound }, undefined, 2)}\n`))
  }

  loginChatGpt(): Promise<never> {
    return Promise.reject(
      new BackendError(
        'unsupported',
        'there is no ChatGPT sign-in without a Codex: start with --engine codex, or sign in with an API key (loginApiKey)',
      ),
    )
  }

  cancelLogin(loginId: string): Promise<never> {
    return Promise.reject(new BackendError('invalid_request', `login id not found: ${loginId}`, { data: { param: 'loginId' } }))
  }

  async logout(): Promise<void> {
    const { path } = this.#options
    await this.#write(async () => {
      await rm(path, { force: true })
      await syncFolder(dirname(path)).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
    })
  }

  /** Nothing that was asked for so far is still being written. */
  written(): Promise<void> {
    return this.#writing
  }

  async #write(write: () => Promise<void>): Promise<void> {
    const turn = this.#writing.then(write)
    this.#writing = turn.catch(() => undefined)
    await turn
  }

  /** A key is sent to the address that it was given for, and to no other, whoever changed that since. */
  async #stored(): Promise<string | null> {
    try {
      const value = parseJson(await readFile(this.#options.path, 'utf8'))
      if (!isJsonObject(value) || (value[ADDRESS] ?? null) !== this.#options.modelAddress) return null
      const key = value['OPENAI_API_KEY']
      return typeof key === 'string' && key !== '' ? key : null
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }
}
