import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
/** Stands for the folder in the names of tests: a test is called the same each time. */
const AT = '--data DIR'
const placed = (words: readonly string[]): string[] => words.flatMap((word) => (word === AT ? at : [word]))
let gateway: LocalGateway

beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
  await json(['agent', 'create', 'mine', '--kind', 'local', '--model', 'm', ...at])
  await json(['agent', 'create', 'theirs', '--kind', 'external', ...at])
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test('what a local agent is told waits in order, is listed, and is taken back', async () => {
  const told = await json(['agent', 'prompt', 'mine', 'one thing', ...at])
  expect(told).toMatchObject({ text: 'one thing', status: 'queued', number: 1 })
  // Everything after -- is the text, so --json goes before it.
  expect((await run(['agent', 'prompt', 'mine', ...at, '--json', '--', '-1', 'or', '1?'])).code).toBe(0)
  const piped = await scratch.run(['agent', 'prompt', 'mine', '-', ...at], { input: 'from a pipe\n' })
  expect(piped).toMatchObject({ code: 0, out: expect.stringMatching(/^prm_\w+ waits for its turn; /) })
  const { items } = await json(['agent', 'prompts', 'mine', ...at])
  expect(items.map(({ number, text }: { number: number; text: string }) => [number, text])).toEqual([
    [3, 'from a pipe\n'],
    [2, '-1 or 1?'],
    [1, 'one thing'],
  ])
  expect((await run(['agent', 'prompts', 'mine', '--limit', '1', ...at])).out).toMatch(/^3 +queued .* from a pipe/m)
  expect((await run(['agent', 'show', 'mine', ...at])).out).toMatch(/^turn +3 wait$/m)
  const waited = await run(['agent', 'run', 'mine', 'four', '--wait', '0', ...at])
  expect(waited).toMatchObject({ code: 3, err: expect.stringContaining('has not ended yet') })
  expect(await run(['agent', 'abort', 'mine', '--queued', ...at])).toMatchObject({
    code: 0,
    out: 'It takes no turn. 4 that waited are taken back.\n',
  })
  const gone = await json(['agent', 'prompts', 'mine', ...at])
  expect(new Set(gone.items.map(({ status }: { status: string }) => status))).toEqual(new Set(['withdrawn']))
})

test('whoever follows a turn goes on when the gateway has started again', MANY_PROCESSES, async () => {
  await json(['agent', 'create', 'followed', '--kind', 'local', '--model', 'm', ...at])
  const running = scratch.begin(['agent', 'run', 'followed', 'over a restart', ...at])
  const open = async () => (await json(['agent', 'prompts', 'followed', '--limit', '1', ...at])).items[0]
  await expect.poll(open, { timeout: 60_000 }).toMatchObject({ text: 'over a restart', status: 'queued' })
  await gateway.stop()
  await gateway.start()
  await json(['agent', 'abort', 'followed', '--queued', ...at])
  expect(await running.exited).toMatchObject({ code: 130 })
})

test('a model that nobody knows is warned of when it is named, and the agent is made all the same', async () => {
  const words = (model: string) => `warning: there is no model ${model}; parley model list names those there are: none yet\n`
  const made = await run(['agent', 'create', 'hopeful', '--model', 'nonesuch', ...at])
  expect(made).toMatchObject({ code: 0, err: words('nonesuch') })
  expect(await run(['agent', 'update', 'hopeful', '--model', 'none1', ...at])).toMatchObject({ code: 0, err: words('none1') })
  expect(await run(['agent', 'update', 'hopeful', '--name', 'patient', ...at])).toMatchObject({ code: 0, err: '' })
})

test('budgets and a folder are set piece by piece, and taken back', async () => {
  const made = [
    'agent',
    'create',
    'poor',
    '--model',
    'm',
    '--turn-tokens',
    '1000',
    '--day-usd',
    '0.50',
    '--turn-time',
    '5m',
    ...at,
  ]
  expect(await json(made)).toMatchObject({
    kind: 'local',
    budgets: {
      turn: { tokens: 1_000, microusd: null, requests: null, wall_ms: 300_000 },
      day: { tokens: null, microusd: 500_000 },
      all: { tokens: null, microusd: null },
    },
  })
  const updated = await json(['agent', 'update', 'poor', '--all-tokens', '9', ...at])
  expect(updated.budgets).toMatchObject({ turn: { tokens: 1_000 }, all: { tokens: 9 } })
  expect((await run(['agent', 'show', 'poor', ...at])).out).toContain(
    '1000 tokens a turn, 300 s a turn, $0.5 a day, 9 tokens in all',
  )
  const cleared = await json(['agent', 'update', 'poor', '--no-budgets', '--turn-requests', '3', ...at])
  expect(cleared.budgets).toMatchObject({ turn: { tokens: null, requests: 3 }, day: { microusd: null }, all: { tokens: null } })
})

test('what wakes an agent is set, told in words, and wrong words are named', async () => {
  const rules = { chat: true, resources: true, calls: false, every_s: 300 }
  const made = ['agent', 'create', 'sleepy', '--model', 'm', '--wake', 'chat,resources', '--wake-every', '5m']
  expect(await json([...made, ...at])).toMatchObject({ wake: rules, rest: null })
  expect((await run(['agent', 'show', 'sleepy', ...at])).out).toContain('chat, resources at most every 300 s')
  const none = { ...rules, chat: false, resources: false }
  expect(await json(['agent', 'update', 'sleepy', '--wake', 'none', ...at])).toMatchObject({ wake: none })
  for (const [option, value, words] of [
    ['--wake', 'chat,phone', '--wake must be none, or of chat, resources, calls'],
    ['--wake-every', '2d', '--wake-every must be from 1s to 24h'],
  ] as const)
    expect(await run(['agent', 'update', 'sleepy', option, value, ...at])).toMatchObject({
      code: 2,
      err: expect.stringContaining(words),
    })
})

test('a transcript is shown with its offsets, and a fork is made at one of them', async () => {
  const { agent_id } = await json(['agent', 'create', 'told', '--model', 'm', ...at])
  expect(await run(['agent', 'transcript', 'told', ...at])).toMatchObject({ code: 0, out: '' })
  const forked = await json(['agent', 'fork', 'told', '--name', 'other', ...at])
  expect(forked).toMatchObject({ name: 'other', kind: 'local' })
  expect(await json(['agent', 'fork', 'told', 'third', ...at])).toMatchObject({ name: 'third' })
  const shown = await run(['agent', 'transcript', 'other', ...at])
  expect(shown.out).toMatch(new RegExp(`^ *\\d+ \\(what is above was known to ${agent_id}\\)\\n$`))
  const [line] = (await run(['agent', 'transcript', 'other', '--json', ...at])).out.trim().split('\n')
  expect(JSON.parse(line ?? '')).toMatchObject({ next_offset: expect.any(Number), line: { type: 'forked', agent_id } })
})

test.each([
  [['agent', 'prompt', 'mine'], 'TEXT is missing'],
  [['agent', 'run', 'mine', '  '], 'TEXT is missing'],
  [['agent', 'prompt', 'mine', '-x'], 'goes after --'],
  [['agent', 'prompt', 'mine', 'a', '--', 'b'], 'given twice'],
  [['agent', 'run', 'mine', 'a', '--wait', 'long'], '--wait must be'],
  [['agent', 'fork', 'mine', '--at', 'x'], '--at must be'],
  [['agent', 'fork', 'mine', '--name', 'a b'], '--name must'],
  [['agent', 'fork', 'mine', 'a b'], 'NAME must'],
  [['agent', 'fork', 'mine', 'one', '--name', 'two'], 'NAME is given twice'],
  [['agent', 'calls', 'mine', '--last', '0'], '--last must be'],
  [['agent', 'create', 'x', '--folder', 'here'], '--folder must be a whole path'],
  [['agent', 'create', 'x', '--turn-usd', 'much'], '--turn-usd must be dollars'],
  [['agent', 'create', 'x', '--kind', 'mine'], '--kind'],
])('%j is wrong usage, told in one line', async (args, words) => {
  expect(await run(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^parley: [^\n]*\n$/) })
  expect((await run(args)).err).toContain(words)
})

test.each([
  [['agent', 'prompt', 'theirs', 'hello', AT], 'is external'],
  [['agent', 'fork', 'theirs', AT], 'is external'],
])('%j is refused with words', async (args, words) => {
  expect(await run(placed(args))).toMatchObject({ code: 1, out: '', err: expect.stringContaining(words) })
})

test.each([
  [['agent', 'fork', 'mine', '--at', '7', AT], '--at: must be where a line of the transcript ends'],
  [['agent', 'transcript', 'mine', '--from', '40000', AT], '--from: the log ends at 0'],
  [['agent', 'calls', 'mine', '--from', '40000', AT], '--from: the log ends at 0'],
])('an offset that is none is told in words of the shell: %j', async (args, words) => {
  expect(await run(placed(args))).toEqual({
    code: 2,
    out: '',
    err: `parley: ${words} (give an offset as it is shown before a line, or leave it out)\n`,
  })
})
