import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { wrapPatch } from './fixture/make-patch.ts'
import { type Work, openWork } from './fixture/open-work.ts'

const ROUNDS = 1_500

/** Somebody in the folder who swaps `d` for a link to the outside all the time. */
async function swapping(work: Work): Promise<AsyncDisposable> {
  const program = fileURLToPath(new URL('./fixture/swap-main.ts', import.meta.url))
  const child = spawn(process.execPath, [program, 'd', 'link', 'aside'], {
    cwd: work.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function openSwapped(): Promise<Work> {
  const work = await openWork({ files: { 'd/f': 'inside 0\n' } })
  writeFileSync(join(work.outside, 'f'), 'inside 0\noutside\n')
  symlinkSync('../outside', join(work.folder, 'link'))
  return work
}

test('no file outside is read while a folder turns into a link and back', async () => {
  await using work = await openSwapped()
  const outcomes = { read: 0, refused: 0 }
  {
    await using _swapper = await swapping(work)
    for (let round = 0; round < ROUNDS; round++) {
      for (const [tool, path] of [
        ['read_file', 'd/f'],
        ['list_files', 'd'],
      ] as const) {
        const { isError, parts } = await work.call(tool, { path })
        const text = JSON.stringify(parts)
        expect(text).not.toContain('outside\\n')
        if (tool === 'read_file') outcomes[isError ? 'refused' : 'read']++
      }
    }
  }
  expect(outcomes.read).toBeGreaterThan(0)
  expect(outcomes.refused).toBeGreaterThan(0)
})

test('no file outside is written while a folder turns into a link and back', async () => {
  await using work = await openSwapped()
  const outcomes = { written: 0, refused: 0 }
  let content = 0
  {
    await using _swapper = await swapping(work)
    for (let round = 0; round < ROUNDS; round++) {
      const update = ['*** Update File: d/f', `-inside ${content}`, `+inside ${round + 1}`]
      const add = [`*** Add File: d/new/n${round}`, '+x']
      const { isError } = await work.call('apply_patch', { patch: wrapPatch(...update, ...add) })
      if (!isError) content = round + 1
      outcomes[isError ? 'refused' : 'written']++
    }
  }
  expect(readdirSync(work.outside)).toEqual(['f'])
  expect(readFileSync(join(work.outside, 'f'), 'utf8')).toBe('inside 0\noutside\n')
  expect(outcomes.written).toBeGreaterThan(0)
  expect(outcomes.refused).toBeGreaterThan(0)
  expect(readdirSync(work.folder, { recursive: true }).filter((path) => String(path).includes('.parley-'))).toEqual([])
})
