import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { openCodexBackend } from '../backend/codex/open-codex-backend.ts'
import { openBridge } from '@parley/codex'
import { type CodexWorld, openCodexWorld } from '@parley/codex/testing'
import { AppClient, text } from './fixture/app-client.ts'

const peer = await peerOrSkip('codex-0.166')
let world: CodexWorld
let client: AppClient
let folder: string

// One client lives through all of them, and the last one ends it.
describe.skipIf(peer === undefined)('in front of 0.166', { shuffle: false }, () => {
  beforeAll(async () => {
    if (peer === undefined) return
    world = await openCodexWorld({ peer })
    ;({ folder } = await world.options('m'))
    const backend = async () => {
      const bridge = await openBridge({
        start: world.start,
        version: peer.version,
        client: { name: 'app-test', version: '1' },
        warn: () => undefined,
        now: Date.now,
        random: randomBytes,
      })
      return openCodexBackend({ bridge, now: Date.now })
    }
    client = await AppClient.open({ backend, folder })
  })
  afterAll(async () => {
    await client.end()
    await world[Symbol.asyncDispose]()
  })

  async function listened(params: JsonObject = {}): Promise<{ conversationId: string; rolloutPath: string }> {
    const defaults = { model: 'gpt-5', cwd: folder, approvalPolicy: 'untrusted', sandbox: 'danger-full-access' }
    const { conversationId, rolloutPath } = await client.call('newConversation', { ...defaults, ...params })
    if (typeof conversationId !== 'string' || typeof rolloutPath !== 'string') throw new TypeError('not opened')
    await client.call('addConversationListener', { conversationId })
    return { conversationId, rolloutPath }
  }

  test('a client of 0.44 talks to 0.166 in the words and the order of 0.44', async () => {
    const from = client.received.length
    const { conversationId } = await listened({ approvalPolicy: 'never' })
    world.script('gpt-5', [[{ say: 'HELLO' }]])
    await client.call('sendUserMessage', { conversationId, items: text('hi') })
    await client.event('task_complete', from)
    const story = client.story(from).filter((type, index, all) => type !== all[index - 1])
    expect(story).toEqual([
      'answer',
      'task_started',
      'token_count',
      'agent_message_delta',
      'agent_message',
      'token_count',
      'task_complete',
    ])
    expect(await client.event('task_complete', from)).toEqual({ type: 'task_complete', last_agent_message: 'HELLO' })
  })

  test('commands and patches of 0.166 are asked about in the words of 0.44', async () => {
    const { conversationId } = await listened({ approvalPolicy: 'untrusted', sandbox: 'read-only' })
    const from = client.received.length
    const patch = '*** Begin Patch\n*** Add File: patched.txt\n+hello\n*** End Patch'
    world.script('gpt-5', [[{ run: ['touch', join(folder, 'made')] }], [{ patch }], [{ say: 'DONE' }]])
    await client.call('sendUserMessage', { conversationId, items: text('go') })
    const exec = await client.until(({ method }) => method === 'execCommandApproval', from)
    const { callId, command, cwd } = toObject(exec['params'])
    expect({ id: exec['id'], callId, cwd }).toEqual({ id: expect.any(Number), callId: expect.any(String), cwd: folder })
    expect(JSON.stringify(command)).toContain('touch')
    expect(client.story(from).at(-2)).toBe('exec_approval_request')
    client.send({ id: exec['id'], result: { decision: 'denied' } })
    const apply = await client.until(({ method }) => method === 'applyPatchApproval', from)
    expect(apply['params']).toMatchObject({
      conversationId,
      fileChanges: { [join(folder, 'patched.txt')]: { add: { content: 'hello\n' } } },
    })
    client.send({ id: apply['id'], result: { decision: 'approved' } })
    expect(await client.event('task_complete', from)).toMatchObject({ last_agent_message: 'DONE' })
    expect(existsSync(join(folder, 'made'))).toBe(false)
    expect(readFileSync(join(folder, 'patched.txt'), 'utf8')).toBe('hello\n')
  })

  test('a turn of 0.166 is interrupted, and an idle conversation answered', async () => {
    const { conversationId } = await listened({ approvalPolicy: 'never' })
    expect(await client.call('interruptConversation', { conversationId })).toEqual({ abortReason: 'interrupted' })
    const from = client.received.length
    world.script('gpt-5', [{ hang: true }])
    const before = world.requests.length
    await client.call('sendUserMessage', { conversationId, items: text('go') })
    await expect.poll(() => world.requests.length).toBeGreaterThan(before)
    await client.call('interruptConversation', { conversationId })
    expect(client.story(from).slice(-2)).toEqual(['turn_aborted', 'answer'])
  })

  test('conversations of 0.166 are listed, resumed and archived', async () => {
    const { conversationId, rolloutPath } = await listened({ approvalPolicy: 'never' })
    const from = client.received.length
    world.script('gpt-5', [[{ say: 'KEPT' }], [{ say: 'AGAIN' }]])
    await client.call('sendUserMessage', { conversationId, items: text('remember this') })
    await client.event('task_complete', from)
    const { items } = await client.call('listConversations', { pageSize: 10 })
    expect(items).toContainEqual({
      conversationId,
      path: rolloutPath,
      preview: 'remember this',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const resumed = await client.call('resumeConversation', { path: rolloutPath })
    expect(resumed).toMatchObject({
      conversationId,
      initialMessages: expect.arrayContaining([
        { type: 'user_message', message: 'remember this', kind: 'plain' },
        { type: 'agent_message', message: 'KEPT' },
      ]),
    })
    const later = client.received.length
    expect(client.story(from)).toContain('sessionConfigured')
    await client.call('sendUserMessage', { conversationId, items: text('go on') })
    expect(await client.event('task_complete', later)).toMatchObject({ last_agent_message: 'AGAIN' })
    const end = client.received.length
    expect(await client.call('archiveConversation', { conversationId, rolloutPath })).toEqual({})
    expect(client.story(end)).toEqual(['shutdown_complete', 'answer'])
    expect(existsSync(rolloutPath)).toBe(false)
  })

  test('settings, account and workspace of 0.166 answer in the shapes of 0.44', async () => {
    expect(await client.call('getUserSavedConfig')).toHaveProperty('config.profiles')
    expect(await client.call('getAuthStatus', {})).toEqual({ requiresOpenaiAuth: false })
    expect(await client.call('userInfo')).toEqual({ allegedUserEmail: null })
    const command = ['bash', '-c', 'echo o; echo e >&2; exit 3']
    expect(await client.call('execOneOffCommand', { command, sandboxPolicy: { mode: 'danger-full-access' } })).toEqual({
      exitCode: 3,
      stdout: 'o\n',
      stderr: 'e\n',
    })
    expect(await client.call('fuzzyFileSearch', { query: 'patc', roots: [folder] })).toMatchObject({
      files: [{ root: folder, path: 'patched.txt', file_name: 'patched.txt' }],
    })
    expect(await client.ask('gitDiffToRemote', { cwd: '/nope' })).toMatchObject({
      error: { code: -32600, message: 'failed to compute git diff to remote for cwd: "/nope"' },
    })
    expect(await client.ask('newConversation', { profile: 'zz' })).toMatchObject({ error: { code: -32600 } })
  })

  test('the end of the input leaves no Codex behind, and warnings of a newer one were notes', async () => {
    const { conversationId } = await listened({ approvalPolicy: 'never' })
    world.script('gpt-5', [{ hang: true }])
    await client.call('sendUserMessage', { conversationId, items: text('go') })
    await client.end()
    expect(world.start.running()).toEqual([])
    const warning: unknown = expect.stringMatching(/^[0-9a-f-]{36}: Model metadata for `gpt-5` not found/)
    expect(client.notes).toEqual(client.notes.map((): unknown => warning))
  })
})

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
