import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentId } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { agentFolders } from './agent-folders.ts'

const ID = AgentId.parse(`agt_${'1'.repeat(26)}`)

test('whatever a mount is called, its folder is neither that of another nor the one that the agent works in', async () => {
  const data = await mkdtemp(join(tmpdir(), 'agent-folders-'))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const folders = agentFolders(data)
  const made = [
    await folders.makeWork(ID),
    ...(await Promise.all(['work', 'mounts', 'files'].map((name) => folders.make(ID, name)))),
  ]
  for (const folder of made) {
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(await readdir(folder)).toEqual([])
  }
  expect(new Set(made).size).toBe(4)
  await expect(folders.make(ID, '..')).rejects.toThrow(z.ZodError)
  expect(await folders.list()).toEqual([ID])
  await folders.remove(ID)
  expect(await folders.list()).toEqual([])
})
