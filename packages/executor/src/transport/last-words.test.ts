import { expect, test } from 'vitest'
import { ScriptedProcess } from './fixture/scripted-process.ts'
import { ExecutorProcessTransport } from './executor-process-transport.ts'

/** What is told of the end of a server that said this on stderr. */
function endOf(stderr: string, exitCode: number, mask?: (text: string) => string): string {
  const process = new ScriptedProcess()
  const options = { name: 'srv', log: () => undefined, ...(mask === undefined ? {} : { mask }) }
  const transport = new ExecutorProcessTransport(process, options)
  const ends: string[] = []
  transport.open({
    receive: () => true,
    fail: () => undefined,
    sessionLost: () => undefined,
    ended: ({ reason }) => void ends.push(reason),
  })
  process.out(1, stderr, 'stderr')
  process.tell({ kind: 'exited', seq: 2, exitCode })
  process.tell({ kind: 'closed', seq: 3 })
  return ends.join('\n')
}

test('the end of a server is told with how it ended and its last lines', () => {
  expect(endOf('', 137)).toBe('the server ended with exit code 137, as after SIGKILL')
  expect(endOf('one\ntwo\nthree\n\nfour', 3)).toBe('the server ended with exit code 3; it said last: two / three / four')
})

test('of an error of Node its words are told, not where it came from', () => {
  const stderr = 'Error: no such folder\n    at open (file.js:1:2)\n    at main (file.js:3:4)\n\nNode.js v26.0.0\n'
  expect(endOf(stderr, 1)).toBe('the server ended with exit code 1; it said last: Error: no such folder')
})

test('what it said cannot write over a terminal, and is bounded', () => {
  expect(endOf('\u001b[2Jgone', 1)).toBe('the server ended with exit code 1; it said last: ⟦U+001B⟧[2Jgone')
  const told = endOf(`${'x'.repeat(5_000)}the end`, 1).replace('the server ended with exit code 1; it said last: ', '')
  expect(told).toHaveLength(300)
  expect(told).toMatch(/^…x+the end$/)
})

test('a server that does not answer is told of with what it said, and with what it said in place of a first message', () => {
  const process = new ScriptedProcess()
  const transport = new ExecutorProcessTransport(process, {
    name: 'srv',
    log: () => undefined,
    mask: (text) => text.replace('k3y', '••••'),
  })
  const sink = { receive: () => true, fail: () => undefined, sessionLost: () => undefined, ended: () => undefined }
  transport.open(sink)
  expect(transport.said()).toBe('')
  process.out(1, 'Welcome, k3y!\nMore\n')
  process.out(2, 'no way to the registry\n', 'stderr')
  expect(transport.said()).toBe(
    '; its output began with what is no message: Welcome, ••••!; it said last: no way to the registry',
  )
  process.out(3, '{"jsonrpc":"2.0","method":"x"}\nthanks\n')
  expect(transport.said()).toBe('; it said last: no way to the registry')
})

test('a secret is taken out before the words are cut: no part of it is left', () => {
  const secret = 'hunter2'.repeat(100)
  expect(endOf(`key ${secret}!`, 1, (text) => text.replaceAll(secret, '••••'))).toBe(
    'the server ended with exit code 1; it said last: key ••••!',
  )
})
