import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MiniBackendWorld, openMiniBackendWorld, shell } from '../backend/fixture/mini-backend-world.ts'
import { METHODS } from './methods.ts'
import { AppClient, text } from './fixture/app-client.ts'
import { portsOf } from './fixture/ports-of.ts'

let world: MiniBackendWorld
beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
})
afterAll(() => world[Symbol.asyncDispose]())

const open = (): Promise<AppClient> => AppClient.open({ backend: () => Promise.resolve(world.reopen()), folder: world.workspace })

async function running(client: AppClient): Promise<void> {
  const { conversationId } = await client.call('newConversation', { approvalPolicy: 'never', sandbox: 'danger-full-access' })
  await client.call('addConversationListener', { conversationId })
  world.say(shell('bash', '-c', 'sleep 60; touch outlived'))
  await client.call('sendUserMessage', { conversationId, items: text('go') })
  await client.event('exec_command_begin')
}

test('the end of the input during a turn stops it and ends the server', async () => {
  const client = await open()
  await running(client)
  await client.end()
  expect(client.notes).toEqual([])
  expect(await readdir(world.workspace)).toEqual([])
})

test('a client that reads no more ends the server as well', async () => {
  const client = await open()
  await running(client)
  client.output.destroy(new Error('EPIPE'))
  await client.ended
})

test('what was asked before the end of the input is still answered', async () => {
  const client = await AppClient.open({
    backend: () => Promise.resolve(world.reopen()),
    folder: world.workspace,
    isRaw: true,
  })
  client.post('initialize', { clientInfo: { name: 'pipe', version: '1' } })
  const made = client.post('newConversation', {})
  const listed = client.post('listConversations', {})
  await client.end()
  expect(await client.answerTo(made)).toHaveProperty('result.conversationId')
  expect(await client.answerTo(listed)).toHaveProperty('result.items')
})

test('an end without a word opens nothing', async () => {
  let opened = 0
  const backend = () => {
    opened += 1
    return Promise.resolve(world.reopen())
  }
  const client = await AppClient.open({ backend, folder: world.workspace, isRaw: true })
  await client.end()
  expect([opened, client.received]).toEqual([0, []])
})

test('a backend that does not close keeps nobody, and that is said', async () => {
  const stuck = portsOf(world.backend, { close: () => new Promise(() => undefined) })
  const client = await AppClient.open({ backend: () => Promise.resolve(stuck), folder: world.workspace })
  await client.call('userInfo')
  await client.end()
  expect(client.notes).toEqual(['not everything could be closed in time'])
})

test('a fault of ours is answered as one, and what was sent is not written down', async () => {
  const userInfo = {
    ...METHODS['userInfo'],
    dialects: ['0.44'] as const,
    isDetached: false,
    run: () => Promise.reject(new TypeError('sk-1')),
  }
  const methods = { ...METHODS, userInfo }
  await using client = await AppClient.open({
    backend: () => Promise.resolve(world.reopen()),
    folder: world.workspace,
    methods,
  })
  expect(await client.ask('userInfo')).toMatchObject({ error: { code: -32603, data: { code: 'internal' } } })
  expect(client.notes).toEqual(['userInfo failed: TypeError'])
  expect(await client.call('getUserAgent')).toHaveProperty('userAgent')
})
