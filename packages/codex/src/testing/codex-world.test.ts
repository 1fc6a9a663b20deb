import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Recorder } from '@parley/agent/testing'
import type { PeerName } from '../../../../scripts/peers/peer.ts'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { codexBinary } from '@parley/contracts/testing'
import { openCodexWorld } from './codex-world.ts'
import { pieceOf } from './model-answers.ts'

const VERSIONS: readonly PeerName[] = ['codex-0.42', 'codex-0.44', 'codex-0.153', 'codex-0.166']

test.for(VERSIONS)('the native program of %s is found, with the folder of its tools', async (name, { skip }) => {
  const { command, pathDirs } = codexBinary(await peerFor({ skip }, name))
  expect(command).not.toBe(process.execPath)
  expect(pathDirs.map((dir) => existsSync(join(dir, 'rg')))).toEqual([true])
})

test('a world that is left in the middle of a turn leaves no process and no file', async ({ skip }) => {
  const peer = await peerFor({ skip }, 'codex-0.44')
  const world = await openCodexWorld({ peer })
  world.script('model-one', [[{ run: ['sh', '-c', 'echo $$ > pid; exec sleep 600'] }]])
  const engine = await world.openEngine()
  const options = await world.options('model-one')
  const conversation = await engine.open(options, new Recorder())
  conversation.submit({ input: [{ type: 'text', text: 'sleep' }] })
  const path = join(options.folder, 'pid')
  const pid = (): number => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0)
  await expect.poll(pid).toBeGreaterThan(0)
  const pids = [...world.start.running(), pid()]
  expect(pids).toHaveLength(2)
  await world[Symbol.asyncDispose]()
  await expect.poll(() => pids.filter((one) => existsSync(`/proc/${one}`))).toEqual([])
  expect([world.folder, world.home.path].filter((folder) => existsSync(folder))).toEqual([])
})

test.for([
  ['0.44.0', { call: 'shell', arguments: { command: ['echo', 'a b'] } }],
  ['0.166.0', { call: 'exec_command', arguments: { cmd: "echo 'a b'", yield_time_ms: 30_000 } }],
] as const)('a command is asked for in the words of %s', ([version, piece]) => {
  const request = { number: 1, headers: {}, body: {}, gone: new AbortController().signal }
  expect(pieceOf(version, { run: ['echo', 'a b'] }, request)).toEqual(piece)
})
