import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Keyboard } from './keyboard.ts'

/** A terminal at which keys are pressed, and what was done to it. */
function open() {
  const done: string[] = []
  const stdin = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => done.push(isRaw ? 'raw' : 'cooked'),
  })
  const keyboard = new Keyboard({ stdin, err: (text) => void done.push(text.toString()), onSignal: () => () => undefined })
  const press = async (text: string): Promise<void> => {
    const taken = new Promise((resolve) => stdin.once('data', resolve))
    stdin.write(text)
    await taken
  }
  return { keyboard, done, press }
}

test.each([
  [['\u001B[200~a\u001B[201~']],
  [['\u001B[200~some text\r', 'a', '\r\u001B[201~']],
  [['\u001B[20', '0~', 'a', 'q', '\u001B', '[201~']],
])('what is pasted is no key: %j', async (pieces) => {
  const { keyboard, press } = open()
  using _keyboard = keyboard
  const key = keyboard.next()
  for (const piece of pieces) await press(piece)
  expect(keyboard.signal.aborted).toBe(false)
  await press('d')
  expect(await key).toBe('d')
})

test('Ctrl-C interrupts and Ctrl-D ends also in a paste that has no end', async () => {
  for (const [typed, isInterrupted] of [
    ['\u0003', true],
    ['\u0004', false],
  ] as const) {
    const { keyboard, press } = open()
    using _keyboard = keyboard
    await press('\u001B[200~a')
    await press(typed)
    expect([keyboard.signal.aborted, keyboard.isInterrupted]).toEqual([true, isInterrupted])
  }
})

test('pastes come in brackets until the terminal is given back', () => {
  const { keyboard, done } = open()
  keyboard[Symbol.dispose]()
  expect(done).toEqual(['raw', '\u001B[?2004h', '\u001B[?2004l', 'cooked'])
})
