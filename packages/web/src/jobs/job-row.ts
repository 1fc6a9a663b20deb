import { type JobListItem, shortCountsText, unjudgedWords } from '@parley/protocol'
import { element } from '../element.ts'
import { jobPath } from '../route.ts'
import { agoText } from '../text/time-text.ts'
import { modelName } from './model-name.ts'
import { setStatus, statusBadge } from './status-badge.ts'

/** One job of the list. It is changed in place, so that whoever stands on its link with the keyboard stays there. */
export class JobRow {
  readonly root = element('tr', {})
  readonly #badge = statusBadge()
  readonly #link: HTMLAnchorElement
  readonly #model = cell('Model')
  readonly #owner = cell('Owner')
  readonly #language = cell('Language')
  readonly #passed = cell('Passed')
  readonly #time = element('time', {})
  #createdMs = 0

  constructor(id: string, { hasOwner }: { readonly hasOwner: boolean }) {
    this.#link = element('a', { href: jobPath(id) })
    const title = cell('Title')
    title.append(this.#link)
    const status = cell('Status')
    status.append(this.#badge)
    const created = cell('Created')
    created.append(this.#time)
    this.root.append(status, title, this.#model, ...(hasOwner ? [this.#owner] : []), this.#language, this.#passed, created)
  }

  show(item: JobListItem, isScript: boolean): void {
    const { title, model, owner, language, created_at } = item
    setStatus(this.#badge, item)
    this.#link.textContent = title === '' ? 'Untitled' : title
    this.#model.replaceChildren(...modelName(model, isScript))
    this.#owner.textContent = owner ?? ''
    this.#language.textContent = language
    this.#passed.textContent = passedText(item)
    this.#createdMs = Date.parse(created_at)
    this.#time.dateTime = created_at
    this.#time.title = new Date(created_at).toLocaleString()
    this.tick(Date.now())
  }

  /** Time goes on even when nothing happens. */
  tick(nowMs: number): void {
    this.#time.textContent = agoText(this.#createdMs, nowMs)
  }
}

/** How many cases passed; of a job that nobody judged, why. */
function passedText(item: JobListItem): string {
  if (item.unjudged) return unjudgedWords(item).why
  return (item.summary === null ? '' : shortCountsText(item.summary)) || '–'
}

const cell = (label: string): HTMLTableCellElement => element('td', { 'data-label': label })
