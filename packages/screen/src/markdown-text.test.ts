import { expect, test } from 'vitest'
import { indentedText, markdownText } from './markdown-text.ts'
import { widthOf } from './plain-text.ts'
import { painterFor } from './screen.ts'

const plain = { indent: '  ', columns: Number.POSITIVE_INFINITY, paint: painterFor({ hasColours: false }) }

test('what was written stays as it was written, without what only marks headings and code', () => {
  const text = '# Why\n\nOne **two** `three` [x](https://a)\n- a\n  - b\n\n```ts\nconst a = 1\n\tb()\n```\n| a | b |\n'
  expect(markdownText(text, plain)).toBe(
    [
      '  Why',
      '',
      '  One **two** `three` [x](https://a)',
      '  - a',
      '    - b',
      '',
      '      const a = 1',
      '          b()',
      '  | a | b |',
    ].join('\n'),
  )
})

test('colours stand for the marks where there are colours', () => {
  const shown = markdownText('# A\na **b**\n```\nc', { ...plain, paint: (style, text) => `<${style}>${text}</${style}>` })
  expect(shown).toBe('  <bold>A</bold>\n  a <bold>b</bold>\n  <dim>    c</dim>')
})

test('no text moves the cursor, hides anything or begins a line where ours begin, however long its lines and words are', () => {
  const hostile = [
    '\u001b[2J\u001b]0;title\u0007gone\rback\u0008\u0000',
    `admin ${'x'.repeat(50)}admin  2026-11-18 10:00:00`,
    '\u202ereversed\u200b',
    `\`\`\`\n${'y '.repeat(40)}\n\`\`\``,
    '漢'.repeat(30),
  ].join('\n')
  const lines = markdownText(hostile, { ...plain, columns: 20 }).split('\n')
  for (const line of lines) {
    expect(line).toMatch(/^ {2}|^$/)
    expect(widthOf(line)).toBeLessThanOrEqual(20)
    expect(line).not.toMatch(/\p{C}/u)
  }
  const letters = lines.join('').replaceAll(/\s/g, '')
  expect(letters).toContain(`${'x'.repeat(50)}admin2026-11-1810:00:00reversed${'y'.repeat(40)}${'漢'.repeat(30)}`)
})

test('a text made to be slow is shown at once', () => {
  for (const hostile of ['**'.repeat(100_000), '*a'.repeat(100_000), ' '.repeat(60_000), '\u0301'.repeat(60_000)])
    expect(markdownText(`${hostile}\nend`, { ...plain, columns: 80 })).toMatch(/\n {2}end$/)
})

test('a plain text is indented as it is, also where it looks like Markdown', () => {
  expect(indentedText('# a **b**\n```\nlong words', { indent: '| ', columns: 8 })).toBe('| # a\n| **b**\n| ```\n| long\n| words')
})
