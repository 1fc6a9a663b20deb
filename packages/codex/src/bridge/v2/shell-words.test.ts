import { expect, test } from 'vitest'
import { argvOf, shellWords } from './shell-words.ts'

test.for([
  ["/bin/bash -lc 'touch a.txt'", ['/bin/bash', '-lc', 'touch a.txt']],
  [`bash -lc "sh -c 'echo "'$$ > pid; exec sleep 600'"'"`, ['bash', '-lc', "sh -c 'echo $$ > pid; exec sleep 600'"]],
  ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
  [`'' ""`, ['', '']],
  [String.raw`a\ b "c\"d\e" 'f\g'`, ['a b', String.raw`c"d\e`, String.raw`f\g`]],
  [`it"'"s`, ["it's"]],
  ['', []],
] as const)('%j is cut into words', ([line, words]) => {
  expect(shellWords(line)).toEqual(words)
})

test.for(["'open", '"open', 'ends with \\'])('%j does not end', (line) => {
  expect(shellWords(line)).toBeUndefined()
})

test('what is no list of words is a script', () => {
  expect(argvOf("echo 'oops")).toEqual(['bash', '-lc', "echo 'oops"])
  expect(argvOf('')).toEqual(['bash', '-lc', ''])
})
