import { type SignedInUser, signOut } from './api.ts'
import { accountCard, accountCorner } from './account.ts'
import { element } from './element.ts'
import { openJobPage } from './job/job-page.ts'
import { type KeptJobs, openJobList } from './jobs/job-list.ts'
import { linkWords } from './link/link-words.ts'
import { type PageLink, openPageLink } from './link/page-link.ts'
import { ScriptModels } from './link/script-models.ts'
import { passwordCard } from './password-card.ts'
import type { PageAddress } from './route.ts'
import type { View } from './view.ts'

export interface SignedInPageOptions {
  readonly token: string
  readonly account: SignedInUser
  /** Where the page shows who is here. */
  readonly corner: HTMLElement
  /** It is over: the person left, or the gateway no longer takes the token. */
  readonly onEnd: (message: string | undefined) => void
  /** The person has another sign-in from now on, and is told why. */
  readonly onSignIn: (token: string, notice: string) => void
}

/** What a person who is signed in sees, over one connection. */
export class SignedInPage {
  readonly #options: SignedInPageOptions
  readonly #link: PageLink
  readonly #models: ScriptModels
  readonly #jobs: KeptJobs = {}
  #view: View | undefined

  constructor(options: SignedInPageOptions) {
    this.#options = options
    const state = element('span', { class: 'link', role: 'status' })
    this.#link = openPageLink({
      token: options.token,
      onState: (next) => {
        state.dataset['state'] = next.kind
        state.textContent = linkWords(next)
      },
      onSignedOut: (message) => this.#end(message),
    })
    this.#models = new ScriptModels(this.#link.client)
    options.corner.replaceChildren(state, ...accountCorner(options.account, () => void this.#leave()))
  }

  get token(): string {
    return this.#options.token
  }

  /** Opens what belongs to an address in place of what was open. */
  open(route: PageAddress): readonly HTMLElement[] {
    this.#view?.close()
    this.#view = this.#viewOf(route)
    document.title = `${this.#view.title} · Parley`
    const { account } = this.#options
    if (route.kind !== 'jobs') return [this.#view.root]
    const password = this.#passwordCard()
    // Who has no password should set one before anything else; who has one seldom changes it.
    if (account.hasPassword) return [this.#view.root, accountCard(account, password)]
    return [password, this.#view.root, accountCard(account)]
  }

  close(): void {
    this.#view?.close()
    this.#models.close()
    void this.#link.client.close()
    this.#options.corner.replaceChildren()
  }

  #viewOf(route: PageAddress): View {
    switch (route.kind) {
      case 'jobs':
        return openJobList(this.#link.client, this.#models, this.#options.account, this.#jobs)
      case 'job':
        return openJobPage(this.#link.client, this.#models, { id: route.id, me: this.#options.account.name })
      case 'unknown':
        return { root: nothingHere(), title: 'Nothing here', close: () => {} }
    }
  }

  #passwordCard(): HTMLElement {
    const { account, onSignIn } = this.#options
    let release = (): void => {}
    return passwordCard({
      username: account.name,
      hasPassword: account.hasPassword,
      setPassword: async ({ current, next, keepTokens }) => {
        // The gateway cuts this connection when the password is set, and that need not be the end.
        release = this.#link.hold()
        const input = { current_password: current, new_password: next, keep_tokens: keepTokens }
        await this.#link.client.onceNow('account.passwd', input)
      },
      settled: (signedIn) => {
        // This sign-in has ended; that it did must not be taken for the end of the new one.
        if (signedIn !== undefined) void this.#link.client.close()
        release()
        if (signedIn !== undefined) onSignIn(signedIn.token, signedIn.notice)
      },
    })
  }

  async #leave(): Promise<void> {
    this.close()
    await signOut(this.#options.token)
    // Whoever leaves by themselves begins anew the next time.
    history.replaceState(undefined, '', '/')
    this.#end(undefined)
  }

  #end(message: string | undefined): void {
    this.close()
    this.#options.onEnd(message)
  }
}

function nothingHere(): HTMLElement {
  const back = element('p', {}, element('a', { href: '/' }, 'All your jobs'))
  return element('section', { class: 'card narrow' }, element('h2', {}, 'Nothing here'), back)
}
