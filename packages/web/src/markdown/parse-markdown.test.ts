import { expect, test } from 'vitest'
import { parseInline, parseMarkdown } from './parse-markdown.ts'

const plain = (text: string) => ({ kind: 'text', text })

test('fault 12: paragraphs, lists, code and bold are read; everything else stays the text that it is', () => {
  const text = '# Why\n\nOne `a**b` and\n**two**.\n- first\n  goes on\n- [x](javascript:y)\n1. <b>\n\n~~~\n``` - x\n~~~\nend'
  expect(parseMarkdown(text)).toEqual([
    { kind: 'heading', inlines: [plain('Why')] },
    {
      kind: 'paragraph',
      inlines: [plain('One '), { kind: 'code', text: 'a**b' }, plain(' and\n'), { kind: 'bold', text: 'two' }, plain('.')],
    },
    { kind: 'list', isOrdered: false, items: [[plain('first\ngoes on')], [plain('[x](javascript:y)')]] },
    { kind: 'list', isOrdered: true, items: [[plain('<b>')]] },
    { kind: 'code', text: '``` - x' },
    { kind: 'paragraph', inlines: [plain('end')] },
  ])
})

test('code that is still being written is code already', () => {
  expect(parseMarkdown('```cpp\nint a;')).toEqual([{ kind: 'code', text: 'int a;' }])
})

test('marks without a partner are text', () => {
  expect(parseInline('a ` b ** c')).toEqual([plain('a ` b ** c')])
})

test('a text made to be slow is read at once', () => {
  for (const hostile of ['`'.repeat(200_000), '**'.repeat(100_000), '- '.repeat(100_000), '*a'.repeat(100_000)])
    expect(parseMarkdown(hostile).length).toBeLessThan(3)
})
