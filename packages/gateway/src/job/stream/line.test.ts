import { expect, test } from 'vitest'
import { type Carry, LINE_MAX_BYTES, type Line, cutLines } from './line.ts'

function cutAll(pieces: readonly Uint8Array[], start: Carry, offset = 0): Line[] {
  const lines: Line[] = []
  let carry = start
  let end = offset
  for (const piece of pieces) {
    end += piece.length
    const cut = cutLines(piece, end, carry)
    lines.push(...cut.lines)
    carry = cut.carry
  }
  return lines
}

test('however the bytes are cut, the same lines come out with the same offsets', () => {
  const text = ['', 'a', 'häß', '', '漢字 und mehr', 'x'.repeat(3_000), 'last'].map((line) => `${line}\n`).join('')
  const bytes = Buffer.from(`${text}unfinished`)
  const whole = cutAll([bytes], undefined)
  expect(whole.map((line) => line.text)).toEqual(['', 'a', 'häß', '', '漢字 und mehr', 'x'.repeat(3_000), 'last'])
  expect(whole.at(-1)?.offset).toBe(Buffer.byteLength(text))
  for (const size of [1, 2, 3, 7, 100, 999]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
    expect(cutAll(pieces, undefined)).toEqual(whole)
  }
})

test('who comes in the middle of a line goes on after it', () => {
  expect(cutAll([Buffer.from('half\nwhole\n')], 'skip', 10)).toEqual([{ text: 'whole', offset: 21 }])
  expect(cutAll([Buffer.from('ha'), Buffer.from('lf'), Buffer.from('\nwhole\n')], 'skip')).toEqual([
    { text: 'whole', offset: 11 },
  ])
})

test('a line that is too long is left out, in one piece or in many, and the next one is not', () => {
  const long = Buffer.alloc(LINE_MAX_BYTES + 1, 'x')
  expect(cutAll([Buffer.concat([long, Buffer.from('\nnext\n')])], undefined).map(({ text }) => text)).toEqual(['next'])
  const pieces = [long.subarray(0, 9), long.subarray(9), Buffer.from('x'), Buffer.from('\nnext\n')]
  expect(cutAll(pieces, undefined)).toEqual([{ text: 'next', offset: LINE_MAX_BYTES + 8 }])
})
