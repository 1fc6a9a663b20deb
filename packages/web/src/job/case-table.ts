import type { CaseItem } from '@parley/protocol'
import { element } from '../element.ts'
import { memoryText } from '../text/amount-text.ts'
import { plainText } from '../text/plain-text.ts'
import { durationText } from '../text/time-text.ts'
import { textOf } from './base64.ts'
import { VERDICT_WORDS, toneOf } from './verdict.ts'

/** More rows than these are counted and not shown. */
const ROWS_MAX = 5_000
const HEADS = ['Case', 'Verdict', 'Time', 'Memory']

/** The cases of the newest round, each as soon as it is judged, in the order in which they are listed. */
export class CaseTable {
  readonly root: HTMLElement
  readonly #note = element('p', { class: 'quiet', role: 'status' }, 'No case has been judged yet.')
  readonly #progress = element('progress', { 'aria-label': 'Cases judged' })
  readonly #body = element('tbody', {})
  readonly #table: HTMLTableElement
  /** Rows by the place of their case. */
  readonly #rows = new Map<number, HTMLTableRowElement>()
  #round = ''
  #judged = 0
  #passed = 0

  constructor() {
    const head = element('tr', {}, ...HEADS.map((name) => element('th', { scope: 'col' }, name)))
    this.#table = element('table', { class: 'cases' }, element('thead', {}, head), this.#body)
    this.#table.hidden = true
    this.#progress.hidden = true
    this.root = element(
      'section',
      { class: 'card', 'aria-label': 'Cases' },
      element('h3', {}, 'Cases'),
      this.#note,
      this.#progress,
      element('div', { class: 'scroll' }, this.#table),
    )
  }

  push(item: CaseItem): void {
    const round = `${item.claim} ${item.attempt}`
    if (round !== this.#round) this.clear()
    this.#round = round
    this.#judged += 1
    if (item.verdict === 'AC') this.#passed += 1
    this.#note.textContent = [
      `${this.#passed} of ${item.total} passed`,
      ...(this.#judged < item.total ? [`${this.#judged} judged`] : []),
      ...(this.#judged > ROWS_MAX ? [`${ROWS_MAX} of them shown`] : []),
    ].join(', ')
    this.#progress.hidden = this.#judged >= item.total
    this.#progress.max = item.total
    this.#progress.value = this.#judged
    this.#table.hidden = false
    if (this.#rows.size < ROWS_MAX) this.#insert(item.index, caseRow(item))
  }

  clear(): void {
    this.#body.replaceChildren()
    this.#rows.clear()
    this.#judged = 0
    this.#passed = 0
  }

  /** Cases end in any order; the table keeps theirs. */
  #insert(index: number, row: HTMLTableRowElement): void {
    this.#rows.get(index)?.remove()
    this.#rows.set(index, row)
    row.dataset['index'] = String(index)
    let after: Element | null = this.#body.lastElementChild
    while (after instanceof HTMLElement && Number(after.dataset['index']) > index) after = after.previousElementSibling
    if (after === null) this.#body.prepend(row)
    else after.after(row)
  }
}

function caseRow(item: CaseItem): HTMLTableRowElement {
  const { verdict, time_ms, memory_kb } = item
  const shown = element('span', { class: 'verdict', 'data-tone': toneOf(verdict) }, verdict)
  return element(
    'tr',
    {},
    element('td', { 'data-label': 'Case' }, labelOf(item)),
    element('td', { 'data-label': 'Verdict' }, shown, ` ${VERDICT_WORDS[verdict]}`, ...whyOf(item)),
    element('td', { 'data-label': 'Time', class: 'number' }, durationText(time_ms)),
    element('td', { 'data-label': 'Memory', class: 'number' }, memoryText(memory_kb)),
  )
}

function labelOf({ group, name, hidden }: CaseItem): string {
  const isNamed = group !== 'default' && group !== '' && !name.startsWith(`${group}/`)
  return `${plainText(isNamed ? `${group}/${name}` : name)}${hidden ? ' (hidden)' : ''}`
}

function whyOf({ verdict, message, diff }: CaseItem): readonly HTMLElement[] {
  if (verdict === 'AC') return []
  const words = plainText(message ?? diff?.message ?? '')
  if (diff === null || (diff.expected_preview_b64 === '' && diff.actual_preview_b64 === ''))
    return words === '' ? [] : [element('p', { class: 'why' }, words)]
  return [
    element(
      'details',
      { class: 'why' },
      element('summary', {}, words === '' ? 'Compare' : words),
      element('p', { class: 'quiet' }, 'Expected'),
      element('pre', { tabindex: '0' }, plainText(textOf(diff.expected_preview_b64))),
      element('p', { class: 'quiet' }, 'Printed'),
      element('pre', { tabindex: '0' }, plainText(textOf(diff.actual_preview_b64))),
    ),
  ]
}
