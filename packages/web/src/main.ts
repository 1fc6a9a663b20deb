import { accountCard } from './account.ts'
import { isHealthy, signOut, whoAmI } from './api.ts'
import { linkForm, signInForm } from './sign-in.ts'

/** Gone when the tab closes. A cookie would be sent by itself, also when a foreign page asks. */
const TOKEN_KEY = 'parley.token'
const HEALTH_EVERY_MS = 10_000
const LINK = /^#(?:link|sign-in)=([\w.-]+)$/

const content = find('content')

void show()
void watchHealth()
addEventListener('hashchange', () => void show())

async function show(): Promise<void> {
  const linkToken = LINK.exec(location.hash)?.[1]
  if (linkToken !== undefined) {
    place(linkForm(linkToken, signedIn, forgetLink))
    return
  }
  const token = sessionStorage.getItem(TOKEN_KEY)
  if (token === null) {
    place(signInForm(signedIn))
    return
  }
  const me = await whoAmI(token)
  if (me.kind === 'ok') {
    place(accountCard(me.value, () => void leave(token)))
    return
  }
  if (me.code !== 'unreachable') sessionStorage.removeItem(TOKEN_KEY)
  place(signInForm(signedIn, me.message))
}

function signedIn(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token)
  forgetLink()
}

/** Takes the link's token out of the address bar and the history. */
function forgetLink(): void {
  history.replaceState(undefined, '', location.pathname)
  void show()
}

async function leave(token: string): Promise<void> {
  sessionStorage.removeItem(TOKEN_KEY)
  await signOut(token)
  await show()
}

function place(card: HTMLElement): void {
  content.replaceChildren(card)
  card.querySelector('input')?.focus()
}

async function watchHealth(): Promise<void> {
  const health = find('health')
  const healthy = await isHealthy()
  health.dataset['state'] = healthy ? 'healthy' : 'silent'
  health.textContent = healthy ? 'The gateway is healthy' : 'The gateway does not answer'
  setTimeout(() => void watchHealth(), HEALTH_EVERY_MS)
}

function find(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}
