import type { AgentStage, AgentStatusItem } from '@parley/protocol'
import { element } from '../element.ts'
import { showMarkdown } from '../markdown/show-markdown.ts'
import { plainText } from '../text/plain-text.ts'
import type { Entry, StatusStep, Writing } from './timeline-model.ts'

/** One entry of the timeline on the page; it is changed in place, so that what somebody unfolded stays so. */
export interface EntryView {
  readonly root: HTMLElement
  show(entry: Entry): void
}

const STAGES: Readonly<Record<AgentStage, string>> = {
  analysis: 'Analysis',
  plan: 'Plan',
  search: 'Search',
  coding: 'Coding',
  test: 'Test',
  repair: 'Repair',
  done: 'Done',
  error: 'Error',
}
const TITLE_CHARS = 100
/** An answer for programs: shown folded, because the page shows its content elsewhere. */
const DOCUMENT = /^\s*(?:\{|```)/

export function entryView(entry: Entry): EntryView {
  if (entry.kind === 'step') return stepView()
  return entry.of === 'message' ? messageView(entry) : foldedView(entry)
}

function stepView(): EntryView {
  const stage = element('span', { class: 'stage' })
  const text = element('span', {})
  const root = element('li', { class: 'step' }, stage, text)
  return {
    root,
    show: (entry) => {
      if (entry.kind !== 'step') return
      const { item } = entry
      root.dataset['stage'] = item.stage
      root.dataset['level'] = item.level
      root.dataset['phase'] = typeof item.meta['phase'] === 'string' ? item.meta['phase'] : ''
      root.dataset['cancelled'] = String(isCancelled(item))
      root.dataset['unjudged'] = String(item.meta['unjudged'] === true)
      stage.textContent = STAGES[item.meta['phase'] === 'end' ? 'test' : item.stage]
      text.textContent = stepText(entry)
      root.title = whenText(item)
    },
  }
}

function stepText({ item }: StatusStep): string {
  const summary = plainText(item.summary)
  // Colour alone says nothing to many people. What somebody wished for is no warning.
  return item.level === 'warn' && !isCancelled(item) ? `Warning: ${summary}` : summary
}

/** How the last line of a cancelled job looks, by whichever judge: done, and yet nothing to be glad of. */
const isCancelled = ({ stage, level, meta }: AgentStatusItem): boolean =>
  meta['status'] === 'cancelled' || (stage === 'done' && level === 'warn')

function messageView(first: Writing): EntryView {
  const body = element('div', { class: 'words' })
  const root = element('li', { class: 'said', title: whenText(first.item) }, body)
  let folded: EntryView | undefined
  return {
    root,
    show: (entry) => {
      if (entry.kind !== 'writing') return
      if (folded === undefined && DOCUMENT.test(entry.text)) {
        folded = foldedView(entry)
        root.className = 'folded'
        root.replaceChildren(...folded.root.childNodes)
      }
      if (folded !== undefined) folded.show(entry)
      else body.replaceChildren(...showMarkdown(entry.text), ...cutNote(entry))
    },
  }
}

function foldedView(first: Writing): EntryView {
  const summary = element('summary', {})
  const body = element(first.of === 'reasoning' ? 'div' : 'pre', { class: 'words', tabindex: '0' })
  const root = element('li', { class: 'folded', title: whenText(first.item) }, element('details', {}, summary, body))
  return {
    root,
    show: (entry) => {
      if (entry.kind !== 'writing') return
      summary.textContent = titleOf(entry)
      if (entry.of === 'reasoning') body.replaceChildren(...showMarkdown(entry.text), ...cutNote(entry))
      else body.replaceChildren(entry.text, ...cutNote(entry))
    },
  }
}

function titleOf({ of, text, item }: Writing): string {
  switch (of) {
    case 'message':
      return `Its answer, ${text.length} characters`
    case 'reasoning':
      return `Thinks: ${firstLine(text)}`
    case 'output':
      return `Prints: ${firstLine(text)}`
    case 'other':
      return `${plainText(item.kind ?? 'writes')}: ${firstLine(text)}`
  }
}

function firstLine(text: string): string {
  const line = (/\S[^\n]*/.exec(text)?.[0] ?? '…').replaceAll('**', '').trim()
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS)}…` : line
}

const cutNote = ({ isCut }: Writing): readonly HTMLElement[] =>
  isCut ? [element('p', { class: 'quiet' }, '… the rest is left out here')] : []

const whenText = ({ ts, attempt }: AgentStatusItem): string => `${new Date(ts).toLocaleTimeString()}, attempt ${attempt}`
