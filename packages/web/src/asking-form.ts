import type { ApiAnswer } from './api.ts'
import { element } from './element.ts'

/** A form that asks the gateway for something when it is sent, and says under its fields why it did not get it. */
export function askingForm<Value>(options: {
  readonly action: string
  readonly ask: () => Promise<ApiAnswer<Value>>
  readonly done: (value: Value) => void
  readonly fields?: readonly HTMLElement[]
  /** Something to say before anybody asked. */
  readonly notice?: string | undefined
}): HTMLFormElement {
  const { action, ask, done, fields = [], notice = '' } = options
  const button = element('button', { type: 'submit' }, action)
  const problem = element('p', { class: 'problem', role: 'alert' }, notice)
  problem.hidden = notice === ''
  const form = element('form', {}, ...fields, problem, button)
  const submit = async (): Promise<void> => {
    button.disabled = true
    // What was wrong with the last try is not said of this one.
    problem.hidden = true
    problem.textContent = ''
    const outcome = await ask()
    button.disabled = false
    if (outcome.kind === 'ok') {
      done(outcome.value)
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

/** A field with its name above it. */
export function labelled(name: string, input: HTMLInputElement): HTMLElement {
  return element('label', { for: input.id }, name, input)
}
