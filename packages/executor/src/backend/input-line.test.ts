import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { InputLine } from './input-line.ts'

const MIB = 1024 * 1024

/** The stdin of a process that reads when it is told to. */
function unreadStdin() {
  const taken: Buffer[] = []
  const state = { isReading: false, read: (): void => undefined }
  const stdin = new Writable({
    write: (chunk: Buffer, _, done) => {
      const take = (): void => {
        taken.push(chunk)
        done()
      }
      if (state.isReading) setImmediate(take)
      else state.read = take
    },
  })
  return {
    stdin,
    text: () => taken.map((chunk) => String.fromCharCode(chunk[0] ?? 0)).join(''),
    read: () => {
      state.isReading = true
      state.read()
    },
  }
}

const chunk = (letter: string, size = 2 * MIB): Buffer => Buffer.alloc(size, letter)

test('what a process does not read is not queued: one write too many waits, the others wait for it', async () => {
  const { stdin, text, read } = unreadStdin()
  const line = new InputLine(stdin, () => false)
  let settled = 0
  const writes = 'abcdefgh'.split('').map((letter) => line.write(chunk(letter)).finally(() => (settled += 1)))
  // A small one does not overtake them.
  writes.push(line.write('i'))
  await new Promise(setImmediate)
  expect({ settled, queued: stdin.writableLength }).toEqual({ settled: 0, queued: 2 * MIB })
  read()
  expect(await Promise.all(writes)).toEqual(Array.from({ length: 9 }, () => 'accepted'))
  await expect.poll(text).toBe('abcdefghi')
})

test('the end of the input comes after what waits, and nothing after it', async () => {
  const { stdin, text, read } = unreadStdin()
  const line = new InputLine(stdin, () => false)
  const writes = [line.write(chunk('a')), line.write(chunk('b'))]
  line.end()
  expect(await line.write('c')).toBe('stdinClosed')
  read()
  expect(await Promise.all(writes)).toEqual(['accepted', 'accepted'])
  await expect.poll(() => stdin.writableFinished).toBe(true)
  expect(text()).toBe('ab')
})

test('a process that is gone lets go of what waits for it', async () => {
  const { stdin } = unreadStdin()
  const line = new InputLine(stdin, () => false)
  const writes = 'abc'.split('').map((letter) => line.write(chunk(letter)))
  stdin.destroy()
  expect((await Promise.all(writes)).slice(1)).toEqual(['stdinClosed', 'stdinClosed'])
})
