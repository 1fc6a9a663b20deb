// oxlint-disable-next-line import/no-unassigned-import -- it has to run before any schema is made
import './schemas-without-eval.ts'
import { isHealthy, whoAmI } from './api.ts'
import { element } from './element.ts'
import { keepClicksInside, routeOf } from './route.ts'
import { SignedInPage } from './signed-in-page.ts'
import { linkForm, signInForm } from './sign-in.ts'

/** Gone when the tab closes. A cookie would be sent by itself, also when a foreign page asks. */
const TOKEN_KEY = 'parley.token'
const HEALTH_EVERY_MS = 10_000
const LINK = /^#(?:link|sign-in)=([\w.-]+)$/

const content = find('content')
let signedInPage: SignedInPage | undefined
/** Counts how often the page was decided anew, so that an answer that comes late changes nothing. */
let decided = 0

void show()
void watchHealth()
keepClicksInside()
addEventListener('hashchange', () => void show())
// Whoever goes on by keyboard begins at the top of what they came to.
addEventListener('popstate', () => void show().then(() => signedInPage !== undefined && content.focus({ preventScroll: true })))

/** `notice` is said above what is shown, until something else is. */
async function show(notice?: string): Promise<void> {
  decided += 1
  const turn = decided
  const linkToken = LINK.exec(location.hash)?.[1]
  if (linkToken !== undefined) return askFor(linkForm(linkToken, signedIn, () => forgetLink()))
  const token = sessionStorage.getItem(TOKEN_KEY)
  if (token === null) return askFor(signInForm(signedIn, notice))
  if (signedInPage?.token !== token) {
    const me = await whoAmI(token)
    if (turn !== decided) return
    if (me.kind === 'refused') {
      if (me.isSignedOut) sessionStorage.removeItem(TOKEN_KEY)
      return askFor(signInForm(signedIn, me.message))
    }
    signedInPage?.close()
    signedInPage = new SignedInPage({ token, account: me.value, corner: find('corner'), onEnd: signedOut, onSignIn: signedIn })
    document.body.dataset['signed'] = 'in'
    showHealth()
  }
  const word = notice === undefined ? [] : [element('p', { class: 'done', role: 'status' }, notice)]
  content.replaceChildren(...word, ...signedInPage.open(routeOf(location.pathname)))
}

function signedIn(token: string, notice?: string): void {
  sessionStorage.setItem(TOKEN_KEY, token)
  forgetLink(notice)
}

/** Whoever signs in again finds the page where it was. */
function signedOut(message: string | undefined): void {
  signedInPage = undefined
  sessionStorage.removeItem(TOKEN_KEY)
  void show(message)
}

/** Takes the link's token out of the address bar and the history. */
function forgetLink(notice?: string): void {
  history.replaceState(undefined, '', location.pathname)
  void show(notice)
}

/** Puts a form in place of everything else. */
function askFor(form: HTMLElement): void {
  signedInPage?.close()
  signedInPage = undefined
  document.body.dataset['signed'] = 'out'
  showHealth()
  document.title = 'Parley'
  content.replaceChildren(form)
  form.querySelector('input')?.focus()
}

/** Who is signed in is told by the connection alone: two answers to one question would contradict each other. */
function showHealth(): void {
  find('health').hidden = signedInPage !== undefined
}

async function watchHealth(): Promise<void> {
  if (signedInPage === undefined) {
    const health = find('health')
    const healthy = await isHealthy()
    health.dataset['state'] = healthy ? 'healthy' : 'silent'
    health.textContent = healthy ? 'The gateway is healthy' : 'The gateway does not answer'
  }
  setTimeout(() => void watchHealth(), HEALTH_EVERY_MS)
}

function find(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}
