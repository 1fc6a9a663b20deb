import { messageOf, ToolError } from '@parley/protocol'
import { WireError } from '@parley/rpc/browser'
import { type ApiAnswer, signIn } from './api.ts'
import { askingForm, labelled } from './asking-form.ts'
import { element } from './element.ts'
import { sentence } from './text/sentence.ts'

export interface NewPassword {
  /** Empty where there is none yet. */
  readonly current: string
  readonly next: string
  readonly keepTokens: boolean
}

/**
 * Sets the first password of an account, or another one. A new password ends every sign-in of the account, this one too, so
 * the page signs in with it at once; that also tells whether it was set when the connection was cut before the answer came.
 */
export function passwordCard(options: {
  readonly username: string
  readonly hasPassword: boolean
  /** Rejects with a `WireError` when the answer did not come, with any other when it was refused. */
  readonly setPassword: (password: NewPassword) => Promise<unknown>
  /** The new sign-in and what to say of it, or `undefined` when there is none. */
  readonly settled: (signedIn: { readonly token: string; readonly notice: string } | undefined) => void
}): HTMLElement {
  const { username, hasPassword, setPassword, settled } = options
  const current = element('input', { id: 'current-password', type: 'password', autocomplete: 'current-password', required: '' })
  const password = field('new-password')
  const again = field('new-password-again')
  const keep = element('input', { id: 'keep-tokens', type: 'checkbox' })
  const set = async (): Promise<ApiAnswer<string>> => {
    if (password.value !== again.value) return refused('The two passwords are not the same.')
    try {
      await setPassword({ current: current.value, next: password.value, keepTokens: keep.checked })
    } catch (error) {
      if (!(error instanceof WireError)) return refused(wordsOf(error))
    }
    return signIn(username, password.value)
  }
  const ask = async (): Promise<ApiAnswer<string>> => {
    const outcome = await set()
    if (outcome.kind === 'refused') settled(undefined)
    return outcome
  }
  const form = askingForm({
    action: hasPassword ? 'Change password' : 'Set password',
    ask,
    done: (token) => settled({ token, notice: `${PASSWORD_SET} ${keep.checked ? TOKENS_KEPT : TOKENS_ENDED}` }),
    fields: [
      element('p', { class: 'hint' }, hasPassword ? '' : `${WHILE_NONE} `, WHAT_ENDS),
      // Password keepers look for the name that goes with it.
      element('input', { type: 'text', name: 'username', autocomplete: 'username', value: username, hidden: '' }),
      ...(hasPassword ? [labelled('Current password', current)] : []),
      labelled('New password', password),
      labelled('Once more', again),
      element('label', { class: 'choice' }, keep, 'Keep my tokens'),
    ],
  })
  const title = hasPassword ? 'Change your password' : 'Your account has no password: set one'
  return element('details', { class: hasPassword ? 'password' : 'card password' }, element('summary', {}, title), form)
}

const WHILE_NONE = 'Until it has one, you need a new one-time link whenever you sign in.'
const WHAT_ENDS =
  'Choose at least 10 characters. A new password signs you out everywhere else and ends your tokens, with which programs act for you.'
const PASSWORD_SET = 'Your password is set. You are signed in with it here; wherever else you were signed in, you no longer are.'
const TOKENS_ENDED = 'Your tokens have ended: programs that act for you need new ones.'
const TOKENS_KEPT = 'Your tokens were kept.'

function wordsOf(error: unknown): string {
  if (!(error instanceof ToolError)) return sentence(messageOf(error))
  if (error.field === 'current_password') return 'The current password is wrong.'
  return [error.message, ...(error.hint === undefined ? [] : [error.hint])].map((words) => sentence(words)).join(' ')
}

function refused(message: string): ApiAnswer<never> {
  return { kind: 'refused', code: 'refused', message, isSignedOut: false }
}

function field(id: string): HTMLInputElement {
  return element('input', { id, type: 'password', autocomplete: 'new-password', required: '', minlength: '10', maxlength: '256' })
}
