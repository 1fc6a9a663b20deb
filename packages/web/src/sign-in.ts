import { type Outcome, signIn, useLink } from './api.ts'
import { element } from './element.ts'

/** The form for a name and a password. `signedIn` gets the token. */
export function signInForm(signedIn: (token: string) => void, notice?: string): HTMLElement {
  const name = element('input', {
    id: 'username',
    name: 'username',
    autocomplete: 'username',
    required: '',
    autocapitalize: 'none',
    spellcheck: 'false',
  })
  const password = element('input', {
    id: 'password',
    name: 'password',
    type: 'password',
    autocomplete: 'current-password',
    required: '',
  })
  const form = askingForm('Sign in', () => signIn(name.value.trim(), password.value), signedIn, notice)
  form.prepend(element('label', { for: 'username' }, 'Name', name), element('label', { for: 'password' }, 'Password', password))
  return card('Sign in', form)
}

/** The one-time link asks for a click: programs that look at links in mail and chat must not use it up. */
export function linkForm(linkToken: string, signedIn: (token: string) => void, leave: () => void): HTMLElement {
  const form = askingForm('Sign me in', () => useLink(linkToken), signedIn)
  form.prepend(element('p', { class: 'hint' }, 'You opened a one-time link. It works once, within 15 minutes.'))
  form.append(element('button', { type: 'button', class: 'plain', click: leave }, 'Use a password instead'))
  return card('Welcome', form)
}

function askingForm(
  action: string,
  ask: () => Promise<Outcome<string>>,
  signedIn: (token: string) => void,
  notice = '',
): HTMLFormElement {
  const button = element('button', { type: 'submit' }, action)
  const problem = element('p', { class: 'problem', role: 'alert' }, notice)
  problem.hidden = notice === ''
  const form = element('form', {}, problem, button)
  const submit = async (): Promise<void> => {
    button.disabled = true
    const outcome = await ask()
    button.disabled = false
    if (outcome.kind === 'ok') {
      signedIn(outcome.value)
      return
    }
    problem.textContent = outcome.message
    problem.hidden = false
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
  return form
}

function card(title: string, body: HTMLElement): HTMLElement {
  return element('section', { class: 'card narrow' }, element('h2', {}, title), body)
}
