import { type LinkCheck, type ApiAnswer, checkLink, signIn, useLink } from './api.ts'
import { askingForm, labelled } from './asking-form.ts'
import { element } from './element.ts'

const TAB_ONLY = 'Signing in counts for this tab alone: another tab asks again, and closing this one signs you out.'

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
  const form = askingForm({
    action: 'Sign in',
    ask: () => signIn(name.value.trim(), password.value),
    done: signedIn,
    fields: [labelled('Name', name), labelled('Password', password)],
    notice,
  })
  form.append(element('p', { class: 'hint' }, 'No password, or forgotten? ', ...howToGetALink()))
  form.append(element('p', { class: 'hint' }, TAB_ONLY))
  return card('Sign in', form)
}

/**
 * What became of a one-time link, and a button when it is good. It asks for a click: programs that look at links in mail and
 * chat must not use it up.
 */
export function linkForm(linkToken: string, signedIn: (token: string) => void, leave: () => void): HTMLElement {
  const root = element('section', { class: 'card narrow' })
  const show = (title: string, ...body: readonly HTMLElement[]): void => root.replaceChildren(element('h2', {}, title), ...body)
  const look = async (): Promise<void> => {
    show('Welcome', element('p', { class: 'hint', role: 'status' }, 'Looking at your link…'))
    const outcome = await checkLink(linkToken)
    show(titleOf(outcome), bodyOf(outcome))
    root.querySelector('button')?.focus()
  }
  const bodyOf = (outcome: ApiAnswer<LinkCheck>): HTMLElement => {
    if (outcome.kind === 'refused') {
      const again = element('button', { type: 'button', click: () => void look() }, 'Try again')
      return element('form', {}, element('p', { class: 'problem', role: 'alert' }, outcome.message), again, password())
    }
    const link = outcome.value
    if (link.state !== 'good') {
      const asked = element('p', { class: 'hint' }, `${WHY[link.state]} `, ...howToGetALink())
      return element('form', {}, asked, password())
    }
    const form = askingForm({ action: `Sign in as ${link.username}`, ask: () => useLink(linkToken), done: signedIn })
    const until = new Date(link.expiresAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    form.prepend(element('p', { class: 'hint' }, `You opened a one-time link. It works once, until ${until}. ${TAB_ONLY}`))
    form.append(password())
    return form
  }
  const password = (): HTMLElement =>
    element('button', { type: 'button', class: 'plain', click: leave }, 'Use a password instead')
  void look()
  return root
}

const WHY = {
  used: 'Links work once.',
  expired: 'Links are good for 15 minutes.',
  unknown: 'It may be cut off, from another gateway, or its account got a password since.',
} as const

function titleOf(outcome: ApiAnswer<LinkCheck>): string {
  if (outcome.kind === 'refused') return 'Your link could not be looked at'
  const titles = {
    good: 'Welcome',
    used: 'This link was used already',
    expired: 'This link is too old',
    unknown: 'This link is not known here',
  } as const
  return titles[outcome.value.state]
}

function howToGetALink(): readonly (Node | string)[] {
  return [
    'On the machine that Parley runs on, ',
    element('code', {}, 'parley user link NAME'),
    ' prints a new one-time link; an admin can send you one.',
  ]
}

function card(title: string, body: HTMLElement): HTMLElement {
  return element('section', { class: 'card narrow' }, element('h2', {}, title), body)
}
