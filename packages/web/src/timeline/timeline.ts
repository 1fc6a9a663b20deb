import type { AgentStatusItem } from '@parley/protocol'
import { element } from '../element.ts'
import { type EntryView, entryView } from './entry-view.ts'
import { TimelineModel } from './timeline-model.ts'

/** Drawn this often at most, however much comes. */
const DRAW_MS = 50

/** The story of a job as it goes on. */
export class Timeline {
  readonly root: HTMLElement
  readonly #list = element('ol', { class: 'timeline' })
  readonly #note = element('p', { class: 'quiet' })
  readonly #views = new Map<number, EntryView>()
  #model = new TimelineModel()
  #timer: ReturnType<typeof setTimeout> | undefined
  #attempt = 0

  constructor() {
    this.empty('Nothing has happened yet.')
    this.root = element(
      'section',
      { class: 'card', 'aria-label': 'Timeline' },
      element('h3', {}, 'Timeline'),
      this.#note,
      this.#list,
    )
  }

  /** What stands here for as long as there is nothing else. */
  empty(words: string): void {
    if (this.#views.size === 0 && this.#timer === undefined) this.#note.textContent = words
  }

  push(item: AgentStatusItem): void {
    this.#model.push(item)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#draw()
    }, DRAW_MS)
  }

  clear(): void {
    this.close()
    this.#model = new TimelineModel()
    this.#views.clear()
    this.#attempt = 0
    this.#list.replaceChildren()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #draw(): void {
    const { changed, removed } = this.#model.takeChanges()
    for (const id of removed) {
      this.#views.get(id)?.root.remove()
      this.#views.delete(id)
    }
    for (const entry of changed) {
      let view = this.#views.get(entry.id)
      if (view === undefined) {
        view = entryView(entry)
        this.#views.set(entry.id, view)
        this.#begin(entry.item.attempt)
        this.#list.append(view.root)
      }
      view.show(entry)
    }
    const { dropped } = this.#model
    this.#note.hidden = dropped === 0
    this.#note.textContent = `${dropped} earlier entries are left out.`
  }

  /** A line between the rounds of writing and testing. */
  #begin(attempt: number): void {
    if (attempt <= this.#attempt) return
    this.#attempt = attempt
    if (attempt > 1) this.#list.append(element('li', { class: 'round' }, `Attempt ${attempt}`))
  }
}
