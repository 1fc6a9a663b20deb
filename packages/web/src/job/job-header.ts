import { isEnd, type JobState, messageOf, resultText } from '@parley/protocol'
import { element } from '../element.ts'
import { modelName } from '../jobs/model-name.ts'
import { setStatus, statusBadge } from '../jobs/status-badge.ts'
import { jobPath } from '../route.ts'
import { plainText } from '../text/plain-text.ts'
import { sentence } from '../text/sentence.ts'
import { agoText, durationText } from '../text/time-text.ts'

export interface JobActions {
  cancel(): Promise<void>
  retry(): Promise<void>
}

/** What the job is and where it stands, with what can be done about it. */
export class JobHeader {
  readonly root: HTMLElement
  readonly #title = element('h2', {}, 'Job')
  readonly #badge = statusBadge()
  readonly #facts = element('dl', { class: 'facts' })
  /** Outside the facts, which are made anew: a link that is replaced loses the focus. */
  readonly #retryOf = element('p', { class: 'quiet' })
  readonly #took = element('dd', {})
  readonly #banner = element('p', { class: 'banner', role: 'note' }, 'This was played from a script; no model was asked.')
  readonly #problem = element('p', { class: 'problem', role: 'alert' })
  readonly #waits = element('p', { class: 'banner waits', role: 'status' })
  readonly #me: string
  readonly #cancel: HTMLButtonElement
  readonly #retry: HTMLButtonElement
  #state: JobState | undefined
  #isScript = false
  #refusal = ''

  constructor(me: string, actions: JobActions) {
    this.#me = me
    this.#cancel = this.#button('Cancel', () => actions.cancel())
    this.#retry = this.#button('Retry', () => actions.retry())
    this.#badge.setAttribute('role', 'status')
    for (const each of [this.#banner, this.#waits, this.#problem, this.#cancel, this.#retry, this.#retryOf]) each.hidden = true
    this.root = element(
      'section',
      { class: 'card', 'aria-label': 'Job' },
      element('div', { class: 'heading' }, this.#title, this.#badge, this.#cancel, this.#retry),
      this.#banner,
      this.#waits,
      this.#problem,
      this.#facts,
      this.#retryOf,
    )
  }

  show(state: JobState, isScript: boolean): void {
    this.#state = state
    this.#isScript = isScript
    this.#draw()
  }

  /** Time goes on even when nothing happens. */
  tick(): void {
    if (this.#state !== undefined) this.#took.textContent = tookOf(this.#state)
  }

  /** Shows why the job cannot be followed or done anything with; empty: no longer. */
  trouble(message: string): void {
    this.#refusal = sentence(message)
    this.#draw()
  }

  #draw(): void {
    const problems = [this.#refusal, problemOf(this.#state, this.#me)].filter((text) => text !== '')
    const problem = problems.join('\n')
    if (this.#problem.textContent !== problem) this.#problem.textContent = problem
    this.#problem.hidden = problem === ''
    const state = this.#state
    if (state === undefined) return
    this.#title.textContent = plainText(state.title) === '' ? 'Untitled' : plainText(state.title)
    setStatus(this.#badge, state)
    this.#cancel.hidden = isEnd(state.status)
    this.#retry.hidden = !isEnd(state.status)
    this.#banner.hidden = !this.#isScript
    const waits = state.waiting === null ? '' : `It waits: ${plainText(state.waiting.message)}.`
    if (this.#waits.textContent !== waits) this.#waits.textContent = waits
    this.#waits.hidden = waits === ''
    this.tick()
    this.#facts.replaceChildren(...factsOf(state, this.#isScript, this.#took))
    if (state.retry_of === null || !this.#retryOf.hidden) return
    this.#retryOf.append('A retry of ', element('a', { href: jobPath(state.retry_of) }, state.retry_of))
    this.#retryOf.hidden = false
  }

  #button(name: string, act: () => Promise<void>): HTMLButtonElement {
    const click = async (): Promise<void> => {
      button.disabled = true
      this.#refusal = ''
      try {
        await act()
      } catch (error) {
        this.#refusal = sentence(messageOf(error))
      }
      button.disabled = false
      this.#draw()
    }
    const button = element('button', { type: 'button', class: 'plain small', click: () => void click() }, name)
    return button
  }
}

function problemOf(state: JobState | undefined, me: string): string {
  if (state === undefined || state.error === null) return ''
  if (state.error.by === me) return 'You cancelled it.'
  const words = plainText(state.error.message)
  // What a judge says may begin with the name of a file, which has no capital.
  return state.status === 'cancelled' ? sentence(words) : words
}

function factsOf(state: JobState, isScript: boolean, took: HTMLElement): readonly HTMLElement[] {
  const { limits, lost_claims, claims } = state
  return [
    ...row('Model', ...modelName(state.model, isScript)),
    ...(state.model === null ? [] : row('Engine', state.engine ?? 'default')),
    ...row('Language', state.language),
    ...(state.owner === null ? [] : row('Owner', plainText(state.owner))),
    ...row('Result', resultText(state) || '–'),
    ...row('Attempt', String(state.attempt)),
    ...row('Claims', lost_claims > 0 ? `${claims} (${lost_claims} lost)` : String(claims)),
    ...(state.judge === null ? [] : row('Judge', plainText(state.judge.name))),
    ...row('Limits', `${durationText(limits.time_limit_ms)}, ${limits.memory_limit_mb} MiB`),
    ...row('Created', timeOf(state.created_at)),
    ...(state.started_at === null ? [] : [pair(state.finished_at === null ? 'Running for' : 'Took', took)]),
    ...row('Id', element('code', {}, state.job_id)),
  ]
}

/** A name and its value belong together, also where they are laid out in columns. */
const pair = (name: string, value: HTMLElement): HTMLElement => element('div', {}, element('dt', {}, name), value)
const row = (name: string, ...value: readonly (Node | string)[]): readonly HTMLElement[] => [
  pair(name, element('dd', {}, ...value)),
]

const timeOf = (iso: string): HTMLElement =>
  element('time', { datetime: iso, title: new Date(iso).toLocaleString() }, agoText(Date.parse(iso), Date.now()))

function tookOf({ started_at, finished_at }: JobState): string {
  if (started_at === null) return ''
  const end = finished_at === null ? Date.now() : Date.parse(finished_at)
  return durationText(Math.max(0, end - Date.parse(started_at)))
}
