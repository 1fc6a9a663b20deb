import { openCodexInEnvironment, openCuttable } from '@parley/contracts/testing'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { gone } from '../../fixture/gone.ts'
import { Scratch } from '../../fixture/parley.ts'

const SLOW = { timeout: 240_000 }

test('a real Codex runs an MCP server behind our exec-server on stdio, and it is gone after the end', SLOW, async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  await using scratch = new Scratch()
  const { command, env } = scratch.launch(['exec-server', '--listen', 'stdio', '--root', '/'])
  const [program, ...args] = command
  await using codex = await openCodexInEnvironment(peer, { program, args }, env)
  codex.go()
  const content = await codex.call()
  const [pid = ''] = codex.effects()
  expect(content).toEqual([{ type: 'text', text: `worked in ${pid}` }])
  await codex.end()
  await gone(Number(pid))
})

test('over a WebSocket that is cut in the middle of a call the call is answered, and done once', SLOW, async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  await using scratch = new Scratch()
  const server = await scratch.start(['exec-server', '--json', '--root', '/'])
  await using way = await openCuttable(server.ready.url)
  await using codex = await openCodexInEnvironment(peer, { url: way.url })
  const calling = codex.call()
  await expect.poll(codex.effects).toHaveLength(1)
  way.cut()
  codex.go()
  const content = await calling
  const [pid = ''] = codex.effects()
  expect(content).toEqual([{ type: 'text', text: `worked in ${pid}` }])
  expect(codex.effects()).toHaveLength(1)
  expect(await codex.call()).toEqual(content)
  await codex.end()
  await gone(Number(pid))
})
