import { element } from '../element.ts'
import { plainText } from '../text/plain-text.ts'
import { type Block, type Inline, parseMarkdown } from './parse-markdown.ts'

/** The elements that a text in Markdown is shown as. Its words go in as text, whatever they look like. */
export function showMarkdown(text: string): readonly HTMLElement[] {
  return parseMarkdown(plainText(text)).map(showBlock)
}

function showBlock(block: Block): HTMLElement {
  switch (block.kind) {
    case 'paragraph':
      return element('p', {}, ...block.inlines.map(showInline))
    case 'heading':
      return element('p', {}, element('strong', {}, ...block.inlines.map(showInline)))
    case 'code':
      return element('pre', { tabindex: '0' }, element('code', {}, block.text))
    case 'list': {
      const items = block.items.map((inlines) => element('li', {}, ...inlines.map(showInline)))
      return block.isOrdered ? element('ol', {}, ...items) : element('ul', {}, ...items)
    }
  }
}

function showInline({ kind, text }: Inline): Node | string {
  if (kind === 'text') return text
  return element(kind === 'code' ? 'code' : 'strong', {}, text)
}
