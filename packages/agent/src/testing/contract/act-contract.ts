import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contractTest } from './contract-test.ts'
import { MODEL, converse } from './converse.ts'
import { CONTRACT_MOUNT, type ContractHarness } from './harness.ts'
import { turn } from './recorder.ts'

const PATCH = [
  '*** Begin Patch',
  '*** Add File: new.txt',
  '+fresh',
  '*** Update File: old.txt',
  '@@',
  '-stale',
  '+ripe',
  '*** End Patch',
]

/** What a model does besides talking. */
export function actContract(harness: ContractHarness): void {
  const test = contractTest(harness)
  describe('acts', () => {
    test('a command runs in the folder, is told with its output, and the model reads it', async () => {
      const argv = ['sh', '-c', 'echo out-word; echo err-word >&2; echo kept > file.txt; exit 3']
      await using c = await converse(harness, { answers: [[{ run: argv }], [{ say: 'ran' }]] })
      expect(await turn(c.conversation, 'run')).toEqual({ kind: 'completed', message: 'ran' })
      const begin = c.recorder.one('command_begin')
      expect(begin.argv.join(' ')).toContain('echo out-word')
      const end = c.recorder.one('command_end')
      expect(end).toMatchObject({ call: begin.call, status: 'failed', exitCode: 3, durationMs: expect.any(Number) })
      expect(end.output).toContain('out-word')
      const bytes = c.recorder.all('command_output').map((event) => Buffer.from(event.bytes).toString())
      expect(bytes.join('')).toContain('out-word')
      expect(await readFile(join(c.folder, 'file.txt'), 'utf8')).toBe('kept\n')
      expect(c.world.heard(MODEL).at(-1)).toContain('err-word')
    })

    test('a patch changes the files it names and says what it changed', async () => {
      await using c = await converse(harness, { answers: [[{ patch: PATCH.join('\n') }], [{ say: 'patched' }]] })
      await writeFile(join(c.folder, 'old.txt'), 'stale\n')
      expect(await turn(c.conversation, 'patch')).toEqual({ kind: 'completed', message: 'patched' })
      const { changes, call } = c.recorder.one('patch_begin')
      const shown = changes.map(({ path, kind }) => `${kind} ${path.split('/').at(-1) ?? ''}`)
      expect(shown.toSorted()).toEqual(['add new.txt', 'update old.txt'])
      expect(changes.map(({ diff }) => diff).join('\n')).toMatch(/\+fresh[^]*\+ripe|\+ripe[^]*\+fresh/)
      expect(c.recorder.one('patch_end')).toMatchObject({ call, status: 'completed', error: null })
      expect(c.recorder.all('diff').at(-1)?.diff).toContain('+ripe')
      expect(await readFile(join(c.folder, 'new.txt'), 'utf8')).toBe('fresh\n')
      expect(await readFile(join(c.folder, 'old.txt'), 'utf8')).toBe('ripe\n')
    })

    test('a patch that does not fit fails, and the turn goes on', async () => {
      await using c = await converse(harness, { answers: [[{ patch: PATCH.join('\n') }], [{ say: 'oh' }]] })
      await writeFile(join(c.folder, 'old.txt'), 'something else\n')
      expect(await turn(c.conversation, 'patch')).toEqual({ kind: 'completed', message: 'oh' })
      expect(c.recorder.all('patch_end').map(({ status }) => status)).not.toContain('completed')
      expect(await readFile(join(c.folder, 'old.txt'), 'utf8')).toBe('something else\n')
    })

    test('a tool of a mount is called there, and the model reads its answer', async () => {
      const use = { use: 'echo', arguments: { text: 'over-the-mount' } } as const
      await using c = await converse(harness, { answers: [[use], [{ say: 'called' }]] })
      expect(await turn(c.conversation, 'call')).toEqual({ kind: 'completed', message: 'called' })
      const begin = c.recorder.one('tool_begin')
      expect(begin).toMatchObject({ mount: CONTRACT_MOUNT, tool: 'echo', arguments: { text: 'over-the-mount' } })
      expect(c.recorder.one('tool_end')).toMatchObject({
        call: begin.call,
        status: 'completed',
        result: { content: [{ type: 'text', text: 'over-the-mount' }] },
        error: null,
      })
      expect(c.world.heard(MODEL).at(-1)).toContain('over-the-mount')
    })

    test('calls of one answer are all made, and each is answered once', async () => {
      const texts = ['one-of-four', 'two-of-four', 'three-of-four']
      const uses = texts.map((text) => ({ use: 'echo', arguments: { text } }) as const)
      await using c = await converse(harness, { answers: [[...uses, { run: ['echo', 'four-of-four'] }], [{ say: 'all' }]] })
      expect(await turn(c.conversation, 'all at once')).toEqual({ kind: 'completed', message: 'all' })
      const ends = c.recorder.all('tool_end').filter(({ result }) => result !== null)
      expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
      expect(c.recorder.one('command_end')).toMatchObject({ status: 'completed', exitCode: 0 })
      const heard = c.world.heard(MODEL).at(-1) ?? ''
      for (const text of [...texts, 'four-of-four']) expect(heard).toContain(text)
    })
  })
}
