import { describe, expect, test } from 'vitest'
import { wrapPatch } from '../fixture/make-patch.ts'
import { parsePatch } from './parse-patch.ts'

describe('a patch', () => {
  test('is read whole', () => {
    const sections = parsePatch(
      wrapPatch(
        '*** Add File: new.txt',
        '+one',
        '+',
        '+three',
        '*** Delete File: old.txt',
        '*** Update File: a.txt',
        '*** Move to: b.txt',
        '@@ class A',
        ' kept',
        '-gone',
        '+come',
        '*** End of File',
      ),
    )
    expect(sections).toEqual([
      { kind: 'add', path: 'new.txt', content: 'one\n\nthree\n' },
      { kind: 'delete', path: 'old.txt' },
      {
        kind: 'update',
        path: 'a.txt',
        movedTo: 'b.txt',
        chunks: [
          {
            line: 9,
            anchors: ['class A'],
            atEnd: true,
            lines: [
              { kind: 'context', text: 'kept', bare: false },
              { kind: 'remove', text: 'gone', bare: false },
              { kind: 'add', text: 'come', bare: false },
            ],
          },
        ],
      },
    ])
  })

  test.each([
    ["<<'EOF'", 'EOF'],
    ['<<EOF', 'EOF'],
    ['<<"END"', 'END'],
    ["apply_patch <<'EOF'", 'EOF'],
    ['```patch', '```'],
  ])('may stand between %s and %s', (open, close) => {
    expect(parsePatch(`${open}\n${wrapPatch('*** Delete File: x')}\n${close}\n`)).toEqual([{ kind: 'delete', path: 'x' }])
  })

  test('may have blanks around its markers, CRLF, and empty lines between its parts', () => {
    const text = '\n  *** Begin Patch \r\n*** Add File: x  \r\n+a\r\n\r\n+b\r\n\r\n *** Delete File: y\r\n*** End Patch\r\n'
    expect(parsePatch(text)).toEqual([
      { kind: 'add', path: 'x', content: 'a\n\nb\n' },
      { kind: 'delete', path: 'y' },
    ])
  })

  test('may move a file and change nothing in it', () => {
    expect(parsePatch(wrapPatch('*** Update File: a', '*** Move to: b'))).toEqual([
      { kind: 'update', path: 'a', movedTo: 'b', chunks: [] },
    ])
  })

  test.each([
    ['', 'the first line of the patch must be "*** Begin Patch"'],
    ['*** Begin Patch\n*** Delete File: x', 'the last line of the patch must be "*** End Patch"'],
    ['*** Begin Patch', 'the last line of the patch must be "*** End Patch"'],
    [wrapPatch(), 'the patch changes no file'],
    [wrapPatch('*** Rename File: x'), 'line 2 of the patch: "*** Rename File: x" is not'],
    [wrapPatch('*** Update File: x'), 'the update of x has no change'],
    [wrapPatch('*** Update File: x', '@@', 'bare words'), 'line 4 of the patch: expected lines that begin with'],
    [wrapPatch('*** Update File: x', '-a', 'bare words'), 'line 4 of the patch: a further change must begin with "@@"'],
    [wrapPatch('*** Add File: x', '+a', 'bare words'), 'line 4 of the patch: "bare words" is not'],
  ])('%j is refused with words', (text, words) => {
    expect(() => parsePatch(text)).toThrow(words)
  })
})
