import { WireError } from '@parley/rpc/browser'
import { type Outcome, signIn } from './api.ts'
import { askingForm, labelled } from './asking-form.ts'
import { element } from './element.ts'
import { sentence } from './text/sentence.ts'

/**
 * For an account without a password: says so and sets one. A new password ends every sign-in of the account, this one too, so
 * the page signs in with it at once; that also tells whether it was set when the connection was cut before the answer came.
 */
export function passwordCard(options: {
  readonly username: string
  /** Rejects with a `WireError` when the answer did not come, with any other when it was refused. */
  readonly setPassword: (password: string, options: { readonly keepTokens: boolean }) => Promise<unknown>
  /** The new sign-in and what to say of it, or `undefined` when there is none. */
  readonly settled: (signedIn: { readonly token: string; readonly notice: string } | undefined) => void
}): HTMLElement {
  const { username, setPassword, settled } = options
  const password = field('new-password')
  const again = field('new-password-again')
  const keep = element('input', { id: 'keep-tokens', type: 'checkbox' })
  const set = async (): Promise<Outcome<string>> => {
    if (password.value !== again.value) return refused('The two passwords are not the same.')
    try {
      await setPassword(password.value, { keepTokens: keep.checked })
    } catch (error) {
      if (!(error instanceof WireError)) return refused(sentence(error instanceof Error ? error.message : String(error)))
    }
    return signIn(username, password.value)
  }
  const ask = async (): Promise<Outcome<string>> => {
    const outcome = await set()
    if (outcome.kind === 'refused') settled(undefined)
    return outcome
  }
  const form = askingForm({
    action: 'Set password',
    ask,
    done: (token) => settled({ token, notice: `${PASSWORD_SET} ${keep.checked ? TOKENS_KEPT : TOKENS_ENDED}` }),
    fields: [
      element(
        'p',
        { class: 'hint' },
        'Until it has one, you need a new one-time link whenever you sign in. Choose at least 10 characters. ',
        'A new password signs you out everywhere else and ends your tokens, with which programs act for you.',
      ),
      // Password keepers look for the name that goes with it.
      element('input', { type: 'text', name: 'username', autocomplete: 'username', value: username, hidden: '' }),
      labelled('New password', password),
      labelled('Once more', again),
      element('label', { class: 'choice' }, keep, 'Keep my tokens'),
    ],
  })
  return element('details', { class: 'card password' }, element('summary', {}, 'Your account has no password: set one'), form)
}

const PASSWORD_SET = 'Your password is set. You are signed in with it here; wherever else you were signed in, you no longer are.'
const TOKENS_ENDED = 'Your tokens have ended: programs that act for you need new ones.'
const TOKENS_KEPT = 'Your tokens were kept.'

function refused(message: string): Outcome<never> {
  return { kind: 'refused', code: 'refused', message, isSignedOut: false }
}

function field(id: string): HTMLInputElement {
  return element('input', { id, type: 'password', autocomplete: 'new-password', required: '', minlength: '10', maxlength: '256' })
}
