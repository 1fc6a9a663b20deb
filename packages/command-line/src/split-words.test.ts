import { expect, test } from 'vitest'
import { splitWords } from './split-words.ts'

test('a line is split as a shell does it, and nothing in it is expanded', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['  node  server.js\t--port 1 ', ['node', 'server.js', '--port', '1']],
    [`a 'b c' "d e" ''`, ['a', 'b c', 'd e', '']],
    [String.raw`a\ b "c\"d" 'e\f' "g\h" "\$x" i\ `.trimEnd(), ['a b', 'c"d', String.raw`e\f`, String.raw`g\h`, '$x', 'i\\']],
    ['$HOME `x` *', ['$HOME', '`x`', '*']],
    [`x"y"'z'`, ['xyz']],
  ]
  for (const [line, words] of cases) expect(splitWords(line)).toEqual(words)
  for (const open of [`a 'b`, 'a "b', '"']) expect(() => splitWords(open)).toThrow('is not closed')
})
