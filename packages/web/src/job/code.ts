import { element } from '../element.ts'

/** Longer texts are shown without numbers and colours: thousands of elements more would stall the page. */
const LINES_MAX = 5_000

/** The program, with the difference to what was handed in behind a button where there is one. */
export function codeCard(name: string, code: string, diff: string): HTMLElement {
  const place = element('div', {})
  const plain = (): void => place.replaceChildren(numbered(code))
  const heading = element('div', { class: 'heading' }, element('h3', {}, 'Code ', element('code', {}, name)))
  plain()
  const copy = copyButton(code)
  if (diff !== '') heading.append(diffToggle(plain, () => place.replaceChildren(coloured(diff))))
  if (copy !== undefined) heading.append(copy)
  return element('section', { class: 'card', 'aria-label': 'Code' }, heading, place)
}

function diffToggle(showCode: () => void, showDiff: () => void): HTMLButtonElement {
  const toggle = (): void => {
    const isPressed = button.getAttribute('aria-pressed') !== 'true'
    button.setAttribute('aria-pressed', String(isPressed))
    if (isPressed) showDiff()
    else showCode()
  }
  const button = element(
    'button',
    { type: 'button', class: 'plain small', 'aria-pressed': 'false', click: toggle },
    'Show changes',
  )
  return button
}

/** Only where the browser lets a page write to the clipboard. */
function copyButton(code: string): HTMLButtonElement | undefined {
  if (!isSecureContext) return undefined
  const copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(code).then(
      () => true,
      () => false,
    )
    button.textContent = isCopied ? 'Copied' : 'Not allowed'
  }
  const button = element('button', { type: 'button', class: 'plain small', click: () => void copy() }, 'Copy')
  return button
}

function numbered(code: string): HTMLElement {
  const count = code.replace(/\n$/, '').split('\n').length
  const text = element('pre', { class: 'code', tabindex: '0', 'aria-label': 'Code' }, element('code', {}, code))
  if (count > LINES_MAX) return text
  const numbers = Array.from({ length: count }, (_, index) => String(index + 1)).join('\n')
  return element('div', { class: 'numbered' }, element('pre', { class: 'numbers', 'aria-hidden': 'true' }, numbers), text)
}

const TONES: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place', '\\': 'place' }

function coloured(diff: string): HTMLElement {
  const lines = diff.replace(/\n$/, '').split('\n').slice(2)
  const pre = element('pre', { class: 'diff', tabindex: '0', 'aria-label': 'Changes to the code that was handed in' })
  if (lines.length > LINES_MAX) pre.append(diff)
  else for (const line of lines) pre.append(element('span', { class: TONES[line.charAt(0)] ?? 'same' }, `${line}\n`))
  return pre
}
