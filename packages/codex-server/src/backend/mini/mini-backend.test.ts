import { existsSync } from 'node:fs'
import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConversationClosed, ConversationUnknown } from '@parley/agent'
import { Recorder, openLocalCommands } from '@parley/agent/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BackedConversation, BackendError } from '@parley/codex/port'
import { type MiniBackendWorld, openMiniBackendWorld, patch, say, shell } from '../fixture/mini-backend-world.ts'
import { idOf, startOf, uuidOf, uuidRandom } from './conversation-uuid.ts'

let world: MiniBackendWorld
beforeAll(async () => {
  world = await openMiniBackendWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const ask = (conversation: BackedConversation, text: string, more = {}) =>
  conversation.submit({ input: [{ type: 'text', text }], ...more }).ended
const open = async (order = {}, recorder = new Recorder()) => ({
  recorder,
  conversation: await world.backend.open({ approvalPolicy: 'never', sandbox: 'workspace-write', ...order }, recorder),
})
const lastBody = () => world.model.requests.at(-1)?.body ?? {}

test('a backend that closes waits for conversations that are being opened: nothing is written afterwards', async () => {
  const backend = world.reopen()
  const before = await readdir(join(world.data, 'conversations')).catch(() => [])
  const ends: unknown[] = []
  const openings = Array.from({ length: 3 }, () =>
    backend.open({}, new Recorder()).then(
      () => ends.push('opened'),
      (error: unknown) => ends.push(error instanceof BackendError ? error.code : error),
    ),
  )
  await backend.close()
  expect(ends).toEqual(['lost', 'lost', 'lost'])
  await Promise.all(openings)
  expect((await readdir(join(world.data, 'conversations'))).length).toBeGreaterThan(before.length)
})

test('a backend that closes waits for settings and keys that are being written: nothing is written afterwards', async () => {
  await using other = await openMiniBackendWorld()
  const ends: string[] = []
  const note = (what: string) => (): void => void ends.push(what)
  const writings = [
    other.backend.account.loginApiKey('sk-one').then(note('signed in')),
    other.backend.account.logout().then(note('signed out')),
    other.backend.account.loginApiKey('sk-two').then(note('signed in')),
    other.backend.settings.setDefaultModel('gpt-5', 'high').then(note('set')),
  ]
  await other.backend.close()
  expect(ends.toSorted()).toEqual(['set', 'signed in', 'signed in', 'signed out'])
  await Promise.all(writings)
  expect(await other.backend.account.status({ includeToken: true, refreshToken: false })).toMatchObject({ token: 'sk-two' })
})

test('an id and its UUID are the same in two spellings', () => {
  const now = 1_800_000_000_000
  const bytes = uuidRandom(
    (size) => new Uint8Array(size).fill(0xff),
    () => now,
  )(26)
  const id = `cnv_${Array.from(bytes, (byte) => '0123456789abcdefghjkmnpqrstvwxyz'.charAt(byte)).join('')}`
  const uuid = uuidOf(id)
  expect(uuid).toBe('01a3185c-5000-7fff-bfff-ffffffffffff')
  expect(idOf(uuid ?? '')).toBe(id)
  expect(startOf(uuid ?? '')).toBe(now)
  expect([uuidOf('cnv_zzzzzzzzzzzzzzzzzzzzzzzzzz'), uuidOf('cnv_1'), idOf('none')]).toEqual([undefined, undefined, undefined])
})

test('a conversation is kept in its own file, and another process goes on with it by id or by path', async () => {
  const { conversation, recorder } = await open({ baseInstructions: 'Be brief.', effort: 'minimal' })
  expect(conversation).toMatchObject({ id: expect.stringMatching(UUID), model: 'gpt-5', effort: 'minimal', initialMessages: [] })
  world.say({ pieces: [{ reasoning: 'hm', encrypted: 'sealed' }, { text: 'one' }] })
  expect(await ask(conversation, 'first')).toEqual({ kind: 'completed', message: 'one' })
  expect(recorder.events.at(0)).toMatchObject({ type: 'turn_started', turn: expect.any(String) })
  expect(lastBody()).toMatchObject({ instructions: 'Be brief.', reasoning: { effort: 'low' } })
  await conversation.close()
  expect(() => conversation.submit({ input: [{ type: 'text', text: 'late' }] })).toThrow(ConversationClosed)

  const other = world.reopen()
  for (const which of [{ id: conversation.id.toUpperCase() }, { path: conversation.rolloutPath }]) {
    const resumed = await other.resume(which, {}, new Recorder())
    expect(resumed).toMatchObject({ id: conversation.id, effort: 'low', rolloutPath: conversation.rolloutPath })
    expect(resumed.initialMessages.slice(0, 3)).toEqual([
      { type: 'user_message', message: 'first', kind: 'plain' },
      { type: 'agent_reasoning', text: 'hm' },
      { type: 'agent_message', message: 'one' },
    ])
    world.say(say('two'))
    expect(await ask(resumed, 'next')).toEqual({ kind: 'completed', message: 'two' })
    expect(lastBody()['instructions']).toBe('Be brief.')
    expect(JSON.stringify(lastBody()['input'])).toContain('first')
  }
  await other.close()
})

test('who is held by another process, is unknown or lies elsewhere cannot be taken up', async () => {
  const { conversation } = await open()
  const other = world.reopen()
  const listener = new Recorder()
  await expect(other.resume({ id: conversation.id }, {}, listener)).rejects.toMatchObject({ code: 'failed' })
  const nobody = { id: '00000000-0000-7000-8000-000000000000' }
  await expect(other.resume(nobody, {}, listener)).rejects.toThrow(ConversationUnknown)
  await expect(other.resume({ path: '/etc/passwd' }, {}, listener)).rejects.toThrow('must be in sessions directory')
  await conversation.close()
})

test('what a turn sets holds for that turn alone, also after a crash', async () => {
  const { conversation, recorder } = await open({ sandbox: 'read-only' })
  const add = (name: string) => patch(`*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch`)
  world.say(add('turn-0'), say('done'), add('turn-1'), say('done'), add('turn-2'), say('done'))
  await ask(conversation, 'go')
  await ask(conversation, 'go', { sandboxPolicy: { mode: 'workspace-write' }, model: 'other', effort: 'high', summary: 'auto' })
  expect(lastBody()).toMatchObject({ model: 'other', reasoning: { effort: 'high' } })
  expect(recorder.all('turn_started')).toHaveLength(2)
  // As after kill -9: nobody has moved it back.
  await conversation.close()
  const resumed = await world.backend.resume({ id: conversation.id }, {}, recorder)
  expect(resumed.model).toBe('gpt-5')
  await ask(resumed, 'go')
  expect(lastBody()).toMatchObject({ model: 'gpt-5' })
  const made = ['turn-0', 'turn-1', 'turn-2'].filter((name) => existsSync(join(world.workspace, name)))
  expect(made).toEqual(['turn-1'])
  await resumed.close()
})

test('a turn that moves can be steered and interrupted, and tells its end once', async () => {
  const { conversation, recorder } = await open()
  const turn = conversation.submit({ input: [{ type: 'text', text: 'go' }], model: 'elsewhere' })
  expect(conversation.steer([{ type: 'text', text: 'and this' }])).toBe(true)
  expect(() => conversation.submit({ input: [{ type: 'text', text: 'no' }] })).toThrow('under way')
  await conversation.interrupt()
  expect(await turn.ended).toEqual({ kind: 'interrupted' })
  expect(recorder.one('turn_ended').turn).toBe(turn.id)
  expect(recorder.one('turn_started').turn).toBe(turn.id)
  await conversation.interrupt()
  world.say({ silent: true })
  const asked = world.model.requests.length
  const late = conversation.submit({ input: [{ type: 'text', text: 'go' }], model: 'elsewhere' })
  expect(conversation.steer([{ type: 'text', text: 'and this' }])).toBe(true)
  await world.model.arrived(asked + 1)
  await conversation.interrupt()
  expect(await late.ended).toEqual({ kind: 'interrupted' })
  world.say(say('well'))
  expect(await ask(conversation, 'on')).toEqual({ kind: 'completed', message: 'well' })
  expect(JSON.stringify(lastBody())).toContain('and this')
  expect(lastBody()['model']).toBe('gpt-5')
  await conversation.close()
})

test('untrusted asks before every command, and what is denied is not run', async () => {
  const { conversation, recorder } = await open({ approvalPolicy: 'untrusted' }, new Recorder(() => 'denied'))
  world.say(shell('touch', 'touched'), say('denied then'))
  expect(await ask(conversation, 'go')).toEqual({ kind: 'completed', message: 'denied then' })
  expect(recorder.asked).toMatchObject([{ kind: 'command', argv: ['touch', 'touched'], folder: world.workspace }])
  expect(existsSync(join(world.workspace, 'touched'))).toBe(false)
  await conversation.close()
})

test('what was approved is done, also where nothing may be written otherwise', async () => {
  const reads = { sandbox: 'read-only' }
  const add = (name: string) => patch(`*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch`)
  const made = (name: string) => existsSync(join(world.workspace, name))
  for (const approvalPolicy of ['on-request', 'untrusted']) {
    const { conversation, recorder } = await open({ ...reads, approvalPolicy }, new Recorder(() => 'approved'))
    world.say(add(`approved-${approvalPolicy}`), say('done'))
    await ask(conversation, 'go')
    expect(recorder.asked).toMatchObject([
      { kind: 'patch', reason: 'changes files in a conversation that may only read', changes: [{ kind: 'add' }] },
    ])
    expect(made(`approved-${approvalPolicy}`)).toBe(true)
    await conversation.close()
  }
  const denied = await open({ ...reads, approvalPolicy: 'on-request' }, new Recorder(() => 'denied'))
  world.say(add('denied'), say('done'))
  await ask(denied.conversation, 'go')
  expect(denied.recorder.asked).toHaveLength(1)
  const unasked = await open({ ...reads, approvalPolicy: 'never' }, new Recorder(() => 'approved'))
  world.say(add('unasked'), say('done'))
  await ask(unasked.conversation, 'go')
  expect([made('denied'), made('unasked'), unasked.recorder.asked]).toEqual([false, false, []])
  await Promise.all([denied.conversation.close(), unasked.conversation.close()])
})

test('a command that was approved runs with the reach to write, one that nobody was asked about does not', async () => {
  const reaches: string[] = []
  const local = openLocalCommands()
  await using own = await openMiniBackendWorld({
    commandsFor: () => ({
      run: (request, output, signal) => {
        reaches.push(request.reach)
        return local.run(request, output, signal)
      },
      close: () => Promise.resolve(),
    }),
  })
  for (const approvalPolicy of ['untrusted', 'on-request'] as const) {
    const conversation = await own.backend.open({ sandbox: 'read-only', approvalPolicy }, new Recorder(() => 'approved'))
    own.say(shell('true'), say('done'))
    await ask(conversation, 'go')
    await conversation.close()
  }
  expect(reaches).toEqual(['workspace-write', 'read-only'])
})

test('those that said something are listed, newest first, page by page, and archived ones are gone', async () => {
  await using own = await openMiniBackendWorld()
  const opened: BackedConversation[] = []
  for (const text of ['first text', 'second text', 'third text']) {
    const conversation = await own.backend.open({}, new Recorder())
    own.say(say('ok'))
    await ask(conversation, text)
    opened.push(conversation)
  }
  await own.backend.open({}, new Recorder())
  const { conversations } = own.backend
  const first = await conversations.list({ pageSize: 2 })
  expect(first.items.map(({ preview }) => preview)).toEqual(['third text', 'second text'])
  expect(first.items[0]).toMatchObject({
    conversationId: opened[2]?.id,
    path: opened[2]?.rolloutPath,
    timestamp: expect.any(String),
  })
  const rest = await conversations.list({ pageSize: 2, ...(first.nextCursor === null ? {} : { cursor: first.nextCursor }) })
  expect(rest).toMatchObject({ items: [{ preview: 'first text' }], nextCursor: null })
  await expect(conversations.list({ pageSize: 2, cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_request' })

  const [gone, other] = opened
  if (gone === undefined || other === undefined) throw new TypeError('nothing was opened')
  const archive = (id: string, path: string) => conversations.archive({ id, path })
  await expect(archive(gone.id, '/etc/passwd')).rejects.toThrow('rollout path `/etc/passwd` must be in sessions directory')
  await expect(archive(gone.id, other.rolloutPath)).rejects.toThrow('does not match conversation id')
  await archive(gone.id, gone.rolloutPath)
  expect(existsSync(gone.rolloutPath)).toBe(false)
  expect(await readdir(join(own.data, 'archived_conversations'))).toHaveLength(1)
  expect((await conversations.list({ pageSize: 9 })).items.map(({ preview }) => preview)).toEqual(['third text', 'second text'])
})

test('the file, a profile, dotted keys and the order say how a conversation is held', async () => {
  await using own = await openMiniBackendWorld({ config: { model_reasoning_effort: 'low' } })
  const file = join(own.data, 'config.toml')
  const text = '# mine\nmodel = "from-file" # why\n\n[profiles.fast]\nmodel = "quick"\napproval_policy = "never"\n'
  await own.backend.settings.setDefaultModel('first', null)
  await writeFile(file, text)
  const held = async (order = {}) => own.backend.open(order, new Recorder())
  expect(await held()).toMatchObject({ model: 'from-file', effort: 'low' })
  expect(await held({ profile: 'fast' })).toMatchObject({ model: 'quick' })
  expect(await held({ config: { 'profiles.fast.model': 'quicker', profile: 'fast' } })).toMatchObject({ model: 'quicker' })
  expect(await held({ profile: 'fast', model: 'mine', effort: 'high' })).toMatchObject({ model: 'mine', effort: 'high' })
  await expect(held({ profile: 'nope' })).rejects.toThrow('config profile `nope` not found')
  await expect(held({ effort: 'huge' })).rejects.toMatchObject({ code: 'invalid_request', data: { param: 'effort' } })
  await expect(held({ config: { sandbox_mode: 'all' } })).rejects.toMatchObject({ data: { param: 'sandbox_mode' } })

  await own.backend.settings.setDefaultModel('new "one"', 'high')
  expect(await readFile(file, 'utf8')).toBe(
    text.replace('"from-file"', String.raw`"new \"one\""`).replace('\n\n[', '\nmodel_reasoning_effort = "high"\n\n['),
  )
  expect(await own.backend.settings.saved()).toEqual({
    model: 'new "one"',
    modelReasoningEffort: 'high',
    profiles: {
      fast: {
        model: 'quick',
        modelProvider: null,
        approvalPolicy: 'never',
        modelReasoningEffort: null,
        modelReasoningSummary: null,
        modelVerbosity: null,
        chatgptBaseUrl: null,
      },
    },
  })
  await own.backend.settings.setDefaultModel(null, null)
  expect(await own.backend.settings.saved()).not.toHaveProperty('model')
  await writeFile(file, '# mine\nmodel = """\na\n"""\n')
  await own.backend.settings.setDefaultModel('b', null)
  expect(await readFile(file, 'utf8')).toBe('# mine\nmodel = "b"\n')
  for (const unsafe of ['model.x = "a"\n', 'model = \n']) {
    await writeFile(file, unsafe)
    await expect(own.backend.settings.setDefaultModel('b', null)).rejects.toMatchObject({ name: 'BackendError' })
    expect(await readFile(file, 'utf8')).toBe(unsafe)
  }
})

test('a key that signs in is for its owner alone and is what the model is asked with from then on', async () => {
  await using own = await openMiniBackendWorld({ needsKey: true })
  const { account } = own.backend
  const told = { includeToken: true, refreshToken: false }
  expect(await account.status(told)).toEqual({ method: null, token: null, requiresOpenaiAuth: true })
  const conversation = await own.backend.open({}, new Recorder())
  const asked = async () => {
    const before = own.model.requests.length
    own.say(say('ok'))
    await ask(conversation, 'hi')
    return own.model.requests.slice(before).map(({ headers }) => headers.authorization)
  }
  expect(await asked()).toEqual([])
  await account.loginApiKey(' sk-abc ')
  expect(await asked()).toEqual(['Bearer sk-abc'])
  expect(await account.status(told)).toEqual({ method: 'apikey', token: 'sk-abc', requiresOpenaiAuth: true })
  const file = join(own.data, 'auth.json')
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ OPENAI_API_KEY: 'sk-abc' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const given = own.reopen({ givenKey: 'sk-env' }).account
  expect(await given.status(told)).toMatchObject({ token: 'sk-env' })
  await account.logout()
  await account.logout()
  expect(await asked()).toEqual([])
  expect(await account.email()).toBeNull()
  await expect(account.loginChatGpt()).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('--engine codex'),
  })
  await expect(account.cancelLogin('x')).rejects.toThrow('login id not found: x')
})
