import { WireError } from '@parley/rpc/browser'
import { type Outcome, signIn } from './api.ts'
import { askingForm, labelled } from './asking-form.ts'
import { element } from './element.ts'

/**
 * For an account without a password: says so and sets one. A new password ends every sign-in of the account, this one too, so
 * the page signs in with it at once; that also tells whether it was set when the connection was cut before the answer came.
 */
export function passwordCard(options: {
  readonly username: string
  /** Rejects with a `WireError` when the answer did not come, with any other when it was refused. */
  readonly setPassword: (password: string) => Promise<unknown>
  /** The new sign-in, or `undefined` when there is none. */
  readonly settled: (token: string | undefined) => void
}): HTMLElement {
  const { username, setPassword, settled } = options
  const password = field('new-password')
  const again = field('new-password-again')
  const set = async (): Promise<Outcome<string>> => {
    if (password.value !== again.value) return refused('The two passwords are not the same.')
    try {
      await setPassword(password.value)
    } catch (error) {
      if (!(error instanceof WireError)) return refused(error instanceof Error ? error.message : String(error))
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
    done: settled,
    fields: [
      element(
        'p',
        { class: 'hint' },
        'Until it has one, you need a new one-time link whenever you sign in. Choose at least 10 characters.',
      ),
      // Password keepers look for the name that goes with it.
      element('input', { type: 'text', name: 'username', autocomplete: 'username', value: username, hidden: '' }),
      labelled('New password', password),
      labelled('Once more', again),
    ],
  })
  return element('details', { class: 'card password' }, element('summary', {}, 'Your account has no password: set one'), form)
}

function refused(message: string): Outcome<never> {
  return { kind: 'refused', code: 'refused', message, isSignedOut: false }
}

function field(id: string): HTMLInputElement {
  return element('input', { id, type: 'password', autocomplete: 'new-password', required: '', minlength: '10', maxlength: '256' })
}
