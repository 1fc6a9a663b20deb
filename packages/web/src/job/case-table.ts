import { type Begins, bytesOf } from '@parley/client'
import {
  type CaseBounds,
  type CaseItem,
  countsText,
  isEnd,
  type JobState,
  memoryText,
  resultText,
  shownInstead,
} from '@parley/protocol'
import { element } from '../element.ts'
import { plainText } from '../text/plain-text.ts'
import { sentence } from '../text/sentence.ts'
import { durationText } from '../text/time-text.ts'
import { VERDICT_WORDS, toneOf } from './verdict.ts'

/** More rows than these are counted and not shown. */
const ROWS_MAX = 5_000
const HEADS = ['Case', 'Verdict', 'Time', 'Memory']
const NONE_YET = 'No case has been run yet.'
const NONE_TOLD = 'No case was told of.'

/** The cases of the newest round, each as soon as it is done, in the order in which they are listed. */
export class CaseTable {
  readonly root: HTMLElement
  readonly #note = element('p', { class: 'quiet', role: 'status' }, NONE_YET)
  readonly #progress = element('progress', { 'aria-label': 'Cases done' })
  readonly #body = element('tbody', {})
  readonly #table: HTMLTableElement
  /** Rows and what they show, by the place of their case. */
  readonly #rows = new Map<number, { readonly root: HTMLTableRowElement; readonly item: CaseItem }>()
  #job: JobState | undefined
  #total = 0
  #counts = NO_COUNTS

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

  /** What is known of the job: how it ended, if it has, and the limits of its cases. */
  show(job: JobState): void {
    const isFirst = this.#job === undefined
    this.#job = job
    // A case may be heard of before the limits are known.
    if (isFirst) for (const { item } of [...this.#rows.values()]) this.#insert(item)
    this.#tell()
  }

  push(item: CaseItem, begins: Begins): void {
    if (begins !== 'nothing') this.clear()
    this.#total = item.total
    this.#counts = counted(this.#counts, item)
    this.#table.hidden = false
    if (this.#rows.size < ROWS_MAX || this.#rows.has(item.index)) this.#insert(item)
    this.#tell()
  }

  clear(): void {
    this.#body.replaceChildren()
    this.#rows.clear()
    this.#counts = NO_COUNTS
    this.#table.hidden = true
    this.#tell()
  }

  #tell(): void {
    const { total: done } = this.#counts
    this.#progress.hidden = done === 0 || done >= this.#total
    this.#progress.max = Math.max(1, this.#total)
    this.#progress.value = done
    const text = [
      this.#result(),
      ...(done > 0 && done < this.#total ? [`${done} of ${this.#total} done`] : []),
      ...(done > ROWS_MAX ? [`${ROWS_MAX} of them shown`] : []),
    ].join(', ')
    if (this.#note.textContent !== text) this.#note.textContent = text
  }

  /** Of cases that are listed what they add up to; without any, why there are none. */
  #result(): string {
    const job = this.#job
    if (this.#counts.total > 0 && job?.unjudged !== true) return countsText(this.#counts)
    if (job === undefined || !isEnd(job.status)) return NONE_YET
    const result = resultText(job)
    return result === '' ? NONE_TOLD : sentence(result)
  }

  /** Cases end in any order; the table keeps theirs. */
  #insert(item: CaseItem): void {
    const { index } = item
    const root = caseRow(item, this.#job?.limits)
    this.#rows.get(index)?.root.remove()
    this.#rows.set(index, { root, item })
    root.dataset['index'] = String(index)
    let after: Element | null = this.#body.lastElementChild
    while (after instanceof HTMLElement && Number(after.dataset['index']) > index) after = after.previousElementSibling
    if (after === null) this.#body.prepend(root)
    else after.after(root)
  }
}

type Counts = Parameters<typeof countsText>[0]
const NO_COUNTS: Counts = { total: 0, judged: 0, run_only: 0, passed: 0, skipped: 0 }

/** The counts with one case more. */
function counted(counts: Counts, { verdict }: CaseItem): Counts {
  const tone = toneOf(verdict)
  return {
    total: counts.total + 1,
    judged: counts.judged + (tone === 'good' || tone === 'bad' ? 1 : 0),
    run_only: counts.run_only + (tone === 'unjudged' ? 1 : 0),
    passed: counts.passed + (tone === 'good' ? 1 : 0),
    skipped: counts.skipped + (tone === 'neutral' ? 1 : 0),
  }
}

function caseRow(item: CaseItem, limits: CaseBounds | undefined): HTMLTableRowElement {
  const { verdict, time_ms, memory_kb } = item
  const { time = durationText(time_ms), memory = memoryText(memory_kb) } = shownInstead(item, limits)
  const shown = element('span', { class: 'verdict', 'data-tone': toneOf(verdict) }, verdict)
  return element(
    'tr',
    {},
    element('td', { 'data-label': 'Case' }, labelOf(item)),
    element('td', { 'data-label': 'Verdict' }, shown, ` ${VERDICT_WORDS[verdict]}`, ...whyOf(item)),
    element('td', { 'data-label': 'Time', class: 'number' }, time),
    element('td', { 'data-label': 'Memory', class: 'number' }, memory),
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

/** A piece of text that somebody else cut out of bytes: what was cut in half is shown as a question mark. */
const textOf = (base64: string): string => new TextDecoder().decode(bytesOf(base64))
