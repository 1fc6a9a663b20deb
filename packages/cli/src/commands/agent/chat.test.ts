import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import type { AgentId, ApprovalId, ChatMessage } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AskingHost } from '../../fixture/asking-host.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
const WAIT = { timeout: 60_000 }
let gateway: LocalGateway
let agents = 0

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data, { gate: 'ask' })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

/** An agent of its own for a test. */
async function made(): Promise<{ readonly name: string; readonly agent_id: AgentId }> {
  const name = `mine-${(agents += 1)}`
  const { agent_id } = await gateway.call('agent.create', { name })
  return { name, agent_id }
}

type Chat = ReturnType<Scratch['begin']>
interface Told {
  readonly message?: ChatMessage
  readonly approval?: { readonly approval_id: string }
}

/** What a chat tells, line by line. */
function linesOf(chat: Chat): Told[] {
  const told: Told[] = []
  createInterface({ input: chat.stdout ?? process.stdin }).on('line', (line) => told.push(JSON.parse(line)))
  return told
}
const textsOf = (told: readonly Told[]): (string | undefined)[] => told.map(({ message }) => message?.text)
const placesOf = (told: readonly Told[]): (number | undefined)[] => told.map(({ message }) => message?.id)

test(
  'a gateway that is killed and started again: each message is said once, and told once and in order',
  MANY_PROCESSES,
  async () => {
    await using other = new Scratch()
    const there = ['--data', other.data]
    const begin = () => other.start(['gateway', '--port', '0', '--log', 'silent', '--json', ...there])
    const first = await begin()
    await other.json(['agent', 'create', 'mine', ...there])
    const chat = other.begin(['agent', 'chat', 'mine', '--json', ...there])
    const reader = other.begin(['agent', 'chat', 'mine', '--json', '--since', '0', '--follow', ...there])
    const [told, read] = [linesOf(chat), linesOf(reader)]
    chat.stdin?.write('one\ntwo\n')
    await expect
      .poll(() => [textsOf(told), textsOf(read)], WAIT)
      .toEqual([
        ['one', 'two'],
        ['one', 'two'],
      ])
    first.kill('SIGKILL')
    await first.exited
    const said = Array.from({ length: 50 }, (_, index) => `while it was away ${index}`)
    chat.stdin?.write(`${said.join('\n')}\n`)
    const second = await begin()
    // Killed once more, at whatever it does by then.
    await expect.poll(() => told.length, WAIT).toBeGreaterThan(5)
    second.kill('SIGKILL')
    await second.exited
    await begin()
    chat.stdin?.end('the last')
    expect(await chat.exited).toMatchObject({ code: 0 })
    const all = ['one', 'two', ...said, 'the last']
    expect([textsOf(told), placesOf(told)]).toEqual([all, all.map((_, index) => index + 1)])
    await expect.poll(() => textsOf(read), WAIT).toEqual(all)
    reader.kill('SIGINT')
    expect(await reader.exited).toMatchObject({ code: 130 })
  },
)

test(
  'lines of a pipe are said in order, and it ends when they are told; the reader goes on where it was',
  MANY_PROCESSES,
  async () => {
    const { name, agent_id } = await made()
    await gateway.call('chat.post', { agent_id, text: 'hello \u001b[2J' })
    const input = 'first\n\n  second \u00e4\r\nthird'
    const piped = await scratch.run(['agent', 'chat', name, '--reader', 'pipe', ...at], { input })
    expect(piped).toMatchObject({ code: 0, err: '' })
    expect(piped.out).toMatch(
      /^admin [-\d]+ [:\d]+ #1\n {2}hello\nadmin [-\d]+ [:\d]+ #2\n {2}first\nadmin .* #3\n {4}second ä\nadmin .* #4\n {2}third\n$/,
    )
    expect(await gateway.read(`resource://agents/${agent_id}/chat`)).toMatchObject({
      markers: [{ reader: 'admin/pipe', read_to: 4 }],
    })
    await gateway.call('chat.post', { agent_id, text: 'fifth' })
    const unread = ['agent', 'chat', name, '--unread', '--json', ...at]
    expect(await scratch.json([...unread, '--reader', 'pipe'])).toMatchObject({ message: { id: 5, text: 'fifth' } })
    // It was read by that.
    expect(await scratch.run([...unread, '--reader', 'pipe'])).toMatchObject({ code: 0, out: '' })
    const last = await scratch.run(['agent', 'chat', name, '--last', '2', ...at])
    expect(last.out.match(/#\d/g)).toEqual(['#4', '#5'])
    expect((await scratch.run(['agent', 'chat', name, '--last', '0', ...at])).out).toBe('')
  },
)

test('without a terminal an approval is a line, once, and decides nothing', MANY_PROCESSES, async () => {
  const { name, agent_id } = await made()
  const { agent_id: other } = await made()
  await using host = await AskingHost.open(gateway, agent_id, 'piped')
  await using others = await AskingHost.open(gateway, other, 'others')
  await others.ask()
  const chat = scratch.begin(['agent', 'chat', name, '--json', ...at])
  const told = linesOf(chat)
  const approval_id = await host.ask()
  await expect.poll(() => told, WAIT).toMatchObject([{ approval: { approval_id } }])
  chat.stdin?.write('/a\n')
  await expect.poll(() => told, WAIT).toMatchObject([{ approval: { approval_id } }, { message: { text: '/a' } }])
  chat.stdin?.end()
  expect(await chat.exited).toMatchObject({ code: 0 })
  expect(await gateway.call('approval.get', { approval_id })).toMatchObject({ status: 'pending' })
})

test('one thing is said, once under a key, as a word, from stdin, or after --', async () => {
  const { name } = await made()
  const said = await json(['agent', 'say', name, 'hello', '--key', 'one', ...at])
  expect(said).toMatchObject({ id: 1, text: 'hello', by: 'admin', from: 'person' })
  expect(await run(['agent', 'say', name, 'other words', '--key', 'one', ...at])).toMatchObject({
    code: 0,
    out: 'It is message 1.\n',
  })
  expect(await run(['agent', 'say', name, ...at, '--', '-1', 'or', '1?'])).toMatchObject({ out: 'It is message 2.\n' })
  // The newest of one's own.
  const piped = await scratch.run(['agent', 'say', '@last', '-', ...at], { input: 'two\nlines\n' })
  expect(piped).toMatchObject({ code: 0, out: 'It is message 3.\n' })
})

test.each([
  [['chat', 'NAME', '--last', '1', '--since', '1'], '--last and --since exclude each other'],
  [['chat', 'NAME', '--last', '201'], '--last must be a whole number from 0 to 200'],
  [['chat', 'NAME', '--reader', 'a/b'], '--reader must have'],
  [['chat', 'nobody'], 'you have no agent called nobody'],
  [['say', 'NAME'], 'TEXT is missing: what to say'],
  [['say', 'NAME', 'x'.repeat(65_537)], 'TEXT is too long'],
  [['say', 'NAME', 'x', '--key', 'a b'], '--key must have 1 to 64 visible ASCII characters'],
])('agent %# is told what is wrong with it', async (args, words) => {
  const { name } = await made()
  const { code, err } = await run(['agent', ...args.map((word) => (word === 'NAME' ? name : word)), ...at])
  expect(code).toBeGreaterThan(0)
  expect(err).toContain(words)
})

test('a line of stdin that is no message is told with its number, and what was before it is said', MANY_PROCESSES, async () => {
  const { name, agent_id } = await made()
  const chat = await scratch.run(['agent', 'chat', name, ...at], { input: `one\n${'x'.repeat(65_537)}\n` })
  expect(chat).toMatchObject({ code: 1, err: expect.stringContaining('line 2 of stdin has more than 65536 characters') })
  const { messages } = await gateway.call('chat.read_since', { agent_id })
  expect(messages.map(({ text }) => text)).toEqual(['one'])
})

const ON_SCREEN = { columns: 100, rows: 40 }

test.skipIf(!hasTerminals())(
  'at a terminal what comes stands above what is written, lines are said, and words answer what is asked, one after the other',
  MANY_PROCESSES,
  async () => {
    const { name, agent_id } = await made()
    await gateway.call('chat.post', { agent_id, text: '# hello\n**there**\u001b[2J' })
    await using host = await AskingHost.open(gateway, agent_id, 'seen')
    const ids: ApprovalId[] = []
    for (const tool of ['one', 'two', 'three']) ids.push(await host.ask({ name: tool }))
    const { code, out } = await onTerminal(scratch, ['agent', 'chat', name, ...at], {
      ...ON_SCREEN,
      answers: [
        { to: '/q quit: ', typed: '/a\r' },
        { to: 'tool files one of mine', typed: '' },
        { to: '/q quit: ', typed: 'to be said\r' },
        { to: '  to be said', typed: '/d\r' },
        { to: 'is denied', typed: '' },
        { to: '/q quit: ', typed: 'last words\r\u0004' },
      ],
    })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('  last words') })
    expect(out).not.toContain('\u001b[2J')
    expect(stripVTControlCharacters(out)).toMatch(/#1\r\n {2}hello\r\n/)
    const { messages } = await gateway.call('chat.read_since', { agent_id })
    expect(messages.slice(1).map(({ text }) => text)).toEqual(['to be said', 'last words'])
    const decided = await Promise.all(ids.map((approval_id) => gateway.call('approval.get', { approval_id })))
    expect(decided.map((approval) => approval.decided?.decision ?? approval.status)).toEqual([
      'approve',
      'deny_continue',
      'pending',
    ])
  },
)

test.skipIf(!hasTerminals())('Ctrl-C at a terminal ends a chat with 130', MANY_PROCESSES, async () => {
  const { name } = await made()
  const { code } = await onTerminal(scratch, ['agent', 'chat', name, ...at], {
    ...ON_SCREEN,
    answers: [{ to: '> ', typed: '\u0003' }],
  })
  expect(code).toBe(130)
})
