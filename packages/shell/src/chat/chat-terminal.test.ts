import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ChatTerminal } from './chat-terminal.ts'

const SCREEN = { columns: 30, rows: 20, isUnicode: true, hasColours: false }

const BRACKETS = new RegExp(String.raw`\u001B\[\?2004([hl])`, 'g')

/** A terminal on which somebody types, and what stands there by then. */
function open() {
  const stdin = new PassThrough()
  const said: string[] = []
  let written = ''
  const write = (text: string | Uint8Array): void => void (written += text.toString())
  let signal = (): void => undefined
  const onSignal = (asked: (signal: NodeJS.Signals) => void) => {
    signal = () => asked('SIGINT')
    return () => undefined
  }
  const io = { stdin, out: write, err: write, onSignal, screen: () => SCREEN }
  const terminal = new ChatTerminal({ io, said: (text) => said.push(text) })
  return {
    terminal,
    said,
    signal: () => signal(),
    /** What stands on the screen, line by line. */
    screen: () => linesOn(written.replaceAll(BRACKETS, ''), SCREEN.columns),
    /** Whether pastes come in brackets, each time that it was said. */
    brackets: () => Array.from(written.matchAll(BRACKETS), ([, verb]) => (verb === 'h' ? 'on' : 'off')),
    /** Settles when it was taken. */
    type: async (text: string): Promise<void> => {
      const taken = new Promise((resolve) => stdin.once('data', resolve))
      stdin.write(text)
      await taken
    },
  }
}

/** The little of a terminal that a line editor uses. A row that is full goes on in the next one with the next character. */
function linesOn(written: string, columns: number): readonly string[] {
  const rows: string[][] = [[]]
  let row = 0
  let column = 0
  const rowAt = (): string[] => (rows[row] ??= [])
  const moves: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => (row -= count),
    B: (count) => (row += count),
    C: (count) => (column += count),
    D: (count) => (column -= count),
    G: (count) => (column = count - 1),
    J: () => {
      rowAt().splice(column)
      rows.splice(row + 1)
    },
  }
  const pieces = written.matchAll(/(?<control>\p{Cc})(?:\[(?<count>\d*)(?<verb>[A-Z]))?|(?<character>\P{Cc})/gu)
  for (const { 0: piece, groups = {} } of pieces) {
    const { count, verb, control, character } = groups
    const move = moves[verb ?? '']
    if (move !== undefined) move(count === '' ? 1 : Number(count))
    else if (control === '\r') column = 0
    else if (control === '\n') [row, column] = [row + 1, 0]
    else if (character !== undefined) {
      if (column === columns) [row, column] = [row + 1, 0]
      const line = rowAt()
      while (line.length < column) line.push(' ')
      line[column] = character
      column += 1
    } else throw new Error(`not for a terminal: ${JSON.stringify(piece)}`)
    if (row < 0) throw new Error('above the first row')
  }
  return Array.from(rows, (line) => (line ?? []).join('').trimEnd())
}

test('what comes stands above the line that is being written, however long that is, and the line is said as it was written', async () => {
  const desk = open()
  using terminal = desk.terminal
  await desk.type('half of ')
  terminal.show('somebody said this\n')
  expect(desk.screen()).toEqual(['somebody said this', '> half of'])
  await desk.type('a line that is far longer than the screen')
  expect(desk.screen()).toEqual(['somebody said this', '> half of a line that is far l', 'onger than the screen'])
  terminal.show('one more\n  of two lines')
  const above = ['somebody said this', 'one more', '  of two lines']
  expect(desk.screen()).toEqual([...above, '> half of a line that is far l', 'onger than the screen'])
  await desk.type('!\r')
  // What was said is shown when it is there.
  expect(desk.screen()).toEqual([...above, '>'])
  expect(desk.said).toEqual(['half of a line that is far longer than the screen!'])
  terminal.waits(1)
  expect(desk.screen()).toEqual([...above, '(1 on its way) >'])
  terminal.waits(0)
  await desk.type('   \r/etc is a folder\r')
  expect(desk.said.slice(1)).toEqual(['/etc is a folder'])
})

test('a word answers only what was asked when it was begun', async () => {
  const desk = open()
  using terminal = desk.terminal
  const refusals = (): number => desk.screen().filter((line) => line.startsWith('/a was begun')).length
  await desk.type('/a\r')
  expect(refusals()).toBe(1)
  // Begun before anything was asked.
  await desk.type('/')
  const first = terminal.next()
  expect(terminal.next()).toBe(first)
  await desk.type('a\r')
  expect(refusals()).toBe(2)
  // Begun for one, ended for the next.
  await desk.type('/')
  terminal.forget()
  const second = terminal.next()
  await desk.type('a\r')
  expect(refusals()).toBe(3)
  // Written over with the next one in view.
  await desk.type('/x')
  await desk.type('\u007f\u007f')
  await desk.type('/a\r')
  expect(await second).toBe('a')
  expect([refusals(), desk.said]).toEqual([3, []])
})

test('what was pasted decides nothing', async () => {
  const desk = open()
  using terminal = desk.terminal
  const asked = terminal.next()
  await desk.type('one\r/a\rtwo\r')
  expect(desk.said).toEqual(['one', 'two'])
  expect(desk.screen().join(' ')).toContain('/a was pasted')
  await desk.type('/d\r')
  expect(await asked).toBe('d')
})

test.each([
  ['a word before Enter', ['some text\r/a', '\r']],
  ['a word that is cut', ['some text\r/', 'a\r']],
  ['a word alone in brackets', ['\u001B[200~/a\u001B[201~', '\r']],
  ['a word that is cut off its text', ['\u001B[200~some text\r', '/a\r', '\u001B[201~']],
  ['a word that is cut, with its brackets', ['\u001B', '[200~some text\r/', 'a\r\u001B[2', '01~']],
  ['a half of a word', ['/', '\u001B[200~a\u001B[201~', '\r']],
  ['an Enter', ['/a', '\u001B[200~\r\u001B[201~']],
])('%s that was pasted decides nothing, and a word that is written then does', async (_what, pieces) => {
  const desk = open()
  using terminal = desk.terminal
  const asked = terminal.next()
  for (const piece of pieces) await desk.type(piece)
  expect(desk.screen().join(' ')).toContain('/a was pasted')
  expect(desk.said).toEqual(pieces.join('').includes('some text') ? ['some text'] : [])
  await desk.type('/d\r')
  expect(await asked).toBe('d')
})

test('a word that is written over a paste decides, and a pasted /q ends nothing', async () => {
  const desk = open()
  using terminal = desk.terminal
  const asked = terminal.next()
  await desk.type('\u001B[200~one\r/q\rt\u001B[201~')
  expect([desk.said, terminal.left.aborted]).toEqual([['one'], false])
  await desk.type('wo\u001B[200~!\u001B[201~')
  await desk.type('\r')
  expect(desk.said).toEqual(['one', 'two!'])
  await desk.type('\u001B[200~/x\u001B[201~')
  await desk.type('\u007F\u007F')
  await desk.type('/a\r')
  expect(await asked).toBe('a')
})

test('pastes come in brackets until the terminal is given back, whatever ends it', async () => {
  for (const typed of ['/q\r', '\u0004', '\u0003', '']) {
    const desk = open()
    const { terminal } = desk
    expect(desk.brackets()).toEqual(['on'])
    if (typed !== '') await desk.type(typed)
    terminal[Symbol.dispose]()
    expect(desk.brackets()).toEqual(['on', 'off'])
  }
})

test('it is left by a word or the end, and interrupted by Ctrl-C or a signal', async () => {
  for (const typed of ['/q\r', '\u0004']) {
    const desk = open()
    using terminal = desk.terminal
    await desk.type(typed)
    expect([terminal.left.aborted, terminal.signal.aborted, terminal.isInterrupted]).toEqual([true, false, false])
    // What is on its way is shown all the same.
    terminal.show('late')
    expect(desk.screen().join(' ')).toContain('late')
    desk.signal()
    expect([terminal.signal.aborted, terminal.isInterrupted]).toEqual([true, true])
  }
  const desk = open()
  using terminal = desk.terminal
  await desk.type('half\u0003')
  expect([terminal.left.aborted, terminal.signal.aborted, terminal.isInterrupted]).toEqual([true, true, true])
})
