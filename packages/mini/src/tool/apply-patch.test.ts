import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BadArguments } from './toolbox.ts'
import { makeUpdate, wrapPatch } from './fixture/make-patch.ts'
import { type Work, openWork } from './fixture/open-work.ts'
import { seeded } from '../fixture/random.ts'

const apply = (work: Work, ...sections: string[]): Promise<string> => work.text('apply_patch', { patch: wrapPatch(...sections) })
const at = (work: Work, path: string): string => readFileSync(join(work.folder, path), 'utf8')

describe('apply_patch', () => {
  test('writes nothing in a folder that was looked at before and leads elsewhere by now', async () => {
    await using before = await openWork({ files: { 'a.txt': 'one\n' } })
    const folder = join(before.outside, 'link')
    symlinkSync(before.folder, folder)
    await using work = await openWork({ options: { folder, unlinked: true } })
    const patch = wrapPatch('*** Add File: new.txt', '+x')
    expect(await work.text('apply_patch', { patch })).toContain('leads elsewhere by now')
    expect(existsSync(join(before.folder, 'new.txt'))).toBe(false)
  })

  test('adds, changes, moves and removes files', async () => {
    await using work = await openWork({ files: { 'a.txt': 'one\ntwo\n', 'old.txt': 'x\n', 'gone.txt': 'g\n' } })
    const patch = wrapPatch(
      '*** Add File: deep/er/new.txt',
      '+hello',
      '*** Update File: a.txt',
      '@@',
      '-two',
      '+TWO',
      '*** Update File: old.txt',
      '*** Move to: sub/moved.txt',
      '@@',
      '-x',
      '+y',
      '*** Delete File: gone.txt',
    )
    expect(await work.toolbox.find('apply_patch')?.subject({ patch })).toEqual({
      kind: 'patch',
      changes: [
        { path: 'deep/er/new.txt', kind: 'add', diff: '@@ -0,0 +1 @@\n+hello\n' },
        { path: 'a.txt', kind: 'update', diff: '@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n' },
        { path: 'old.txt', kind: 'update', movedTo: 'sub/moved.txt', diff: '@@ -1 +1 @@\n-x\n+y\n' },
        { path: 'gone.txt', kind: 'delete', diff: '@@ -1 +0,0 @@\n-g\n' },
      ],
    })
    expect(readdirSync(work.folder).sort()).toEqual(['a.txt', 'gone.txt', 'old.txt'])
    const text = await work.text('apply_patch', { patch })
    expect(text).toBe('done:\nA deep/er/new.txt\nM a.txt\nM old.txt -> sub/moved.txt\nD gone.txt')
    expect(new Set(readdirSync(work.folder, { recursive: true }).map(String))).toEqual(
      new Set(['a.txt', 'deep', 'deep/er', 'deep/er/new.txt', 'sub', 'sub/moved.txt']),
    )
    expect([at(work, 'deep/er/new.txt'), at(work, 'a.txt'), at(work, 'sub/moved.txt')]).toEqual(['hello\n', 'one\nTWO\n', 'y\n'])
  })

  test('changes nothing when one part does not fit', async () => {
    await using work = await openWork({ files: { 'a.txt': 'one\n' } })
    const result = await work.call('apply_patch', {
      patch: wrapPatch('*** Add File: b.txt', '+b', '*** Update File: a.txt', '@@', '-zwei', '+2'),
    })
    expect(result).toMatchObject({
      isError: true,
      parts: [{ text: expect.stringContaining('nothing was changed: change 1 of 1 in a.txt') }],
    })
    expect(readdirSync(work.folder)).toEqual(['a.txt'])
    expect(() => work.toolbox.find('apply_patch')?.subject({ patch: 'no patch' })).toThrow(BadArguments)
  })

  test('is refused where files may only be read', async () => {
    await using work = await openWork({ options: { reach: 'read-only' } })
    expect(await apply(work, '*** Add File: b.txt', '+b')).toBe('nothing was changed: this conversation may only read files')
    expect(existsSync(join(work.folder, 'b.txt'))).toBe(false)
  })

  test('takes several sections about one file in their order', async () => {
    await using work = await openWork({ files: { 'a.txt': 'one\ntwo\n' } })
    await apply(
      work,
      '*** Update File: a.txt',
      '-one',
      '+1',
      '*** Update File: ./a.txt',
      '-two',
      '+2',
      '*** Add File: n',
      '+n',
      '*** Update File: n',
      '*** Move to: m',
      '-n',
      '+m',
    )
    expect([at(work, 'a.txt'), at(work, 'm'), readdirSync(work.folder).sort()]).toEqual(['1\n2\n', 'm\n', ['a.txt', 'm']])
  })

  test('shows what is lost when a file goes over another', async () => {
    await using work = await openWork({ files: { a: 'a\n', b: 'b\n' } })
    const patch = wrapPatch('*** Update File: a', '*** Move to: b', '-a', '+c')
    expect(await work.toolbox.find('apply_patch')?.subject({ patch })).toMatchObject({
      changes: [
        { path: 'b', kind: 'delete', diff: '@@ -1 +0,0 @@\n-b\n' },
        { path: 'a', kind: 'update', movedTo: 'b' },
      ],
    })
    await work.call('apply_patch', { patch })
    expect([readdirSync(work.folder), at(work, 'b')]).toEqual([['b'], 'c\n'])
  })

  test('keeps modes, and follows links that stay inside', async () => {
    await using work = await openWork({ files: { 'run.sh': 'echo 1\n' } })
    chmodSync(join(work.folder, 'run.sh'), 0o750)
    symlinkSync('run.sh', join(work.folder, 'link'))
    expect(await apply(work, '*** Update File: link', '-echo 1', '+echo 2')).toBe('done:\nM run.sh')
    expect([at(work, 'run.sh'), statSync(join(work.folder, 'run.sh')).mode & 0o777]).toEqual(['echo 2\n', 0o750])
    expect(await apply(work, '*** Delete File: link')).toContain('link is a symbolic link')
  })

  test('does not touch binaries, foreign encodings, folders, git, or the outside', async () => {
    await using work = await openWork({
      files: { bin: new Uint8Array([97, 0, 10]), latin: new Uint8Array([0xe9, 10]), 'd/x': '' },
    })
    writeFileSync(join(work.outside, 'secret'), 's\n')
    symlinkSync('../outside', join(work.folder, 'out'))
    expect(await apply(work, '*** Update File: bin', '-a', '+b')).toContain('bin is binary')
    expect(await apply(work, '*** Update File: latin', '-a', '+b')).toContain('latin is not UTF-8')
    expect(await apply(work, '*** Delete File: d')).toContain('d is a folder')
    expect(await apply(work, '*** Delete File: none')).toContain('none does not exist')
    expect(await apply(work, '*** Add File: .git/hooks/pre-commit', '+evil')).toContain("git's own files")
    for (const path of ['out/new', '../outside/new', join(work.outside, 'new'), 'a\0b'])
      expect((await work.call('apply_patch', { patch: wrapPatch(`*** Add File: ${path}`, '+x') })).isError).toBe(true)
    expect(readdirSync(work.outside)).toEqual(['secret'])
    expect(await apply(work, '*** Delete File: out/secret')).toContain('leads out of the working folder')
    expect(readdirSync(work.folder).sort()).toEqual(['bin', 'd', 'latin', 'out'])
  })

  test('makes no repository, at once or bit by bit, and writes in none', async () => {
    await using work = await openWork({ files: { 'docs/readme': 'x\n', 'half/objects/a': 'x\n', 'half/refs/a': 'x\n' } })
    const add = (path: string): string[] => [`*** Add File: ${path}`, '+x']
    const refused = (...paths: readonly string[]) =>
      expect(apply(work, ...paths.flatMap(add))).resolves.toContain('would become a git repository')
    await refused('docs/HEAD', 'docs/objects/a', 'docs/refs/a', 'docs/config')
    await refused('docs/refs/a', 'docs/objects/a', 'docs/HEAD')
    await refused('docs/commondir', 'docs/HEAD')
    await refused('new/deep/head', 'new/deep/Objects/a', 'new/deep/refs/a')
    await refused('HEAD', 'objects/a', 'refs/a')
    await refused('half/HEAD')
    await expect(apply(work, '*** Update File: docs/readme', '*** Move to: half/HEAD', '@@', '-x', '+y')).resolves.toContain(
      'would become',
    )
    expect([readdirSync(work.folder).toSorted(), readdirSync(join(work.folder, 'docs'))]).toEqual([['docs', 'half'], ['readme']])
    expect(await apply(work, ...add('docs/HEAD'), ...add('docs/objects/a'))).toContain('done')
    writeFileSync(join(work.folder, 'half/HEAD'), '')
    expect(await apply(work, ...add('half/config'))).toContain("git's own files")
  })

  test('a file that is to be a folder as well changes nothing and leaves nothing behind', async () => {
    await using work = await openWork({ files: { a: 'a\n' } })
    const sections = ['*** Add File: x', '+file', '*** Add File: x/y/z', '+below a file', '*** Update File: a', '-a', '+A']
    expect(await apply(work, ...sections)).toContain('nothing was changed')
    expect([readdirSync(work.folder), at(work, 'a')]).toEqual([['a'], 'a\n'])
  })

  test('any files, any edits: what the patch says is what is there, 120 times', async () => {
    await using work = await openWork()
    for (let seed = 1; seed <= 120; seed++) {
      const random = seeded(seed)
      const version = (): string[] =>
        Array.from(
          { length: 1 + random.below(25) },
          (_, index) => `${random.pick(['x', ' y', 'ß'])}${index % 7}_${random.below(999)}`,
        )
      const sections: string[] = []
      const expected: Record<string, string> = {}
      for (let file = 0; file < 3; file++) {
        const path = `s${seed}/${random.pick(['p', 'q/r'])}/f${file}`
        const [before, after] = [version(), version()]
        const kept = [
          ...before.slice(0, random.below(before.length)),
          ...after,
          ...before.slice(-random.below(before.length) || before.length),
        ]
        mkdirSync(join(work.folder, path, '..'), { recursive: true })
        writeFileSync(join(work.folder, path), before.map((line) => `${line}\n`).join(''))
        const update = makeUpdate(path, before, kept, { context: 3, quote: (line) => line })
        if (update.includes('\n')) sections.push(update)
        expected[path] = `${kept.join('\n')}\n`
      }
      if (sections.length > 0)
        expect({ seed, text: (await apply(work, ...sections)).slice(0, 5) }).toEqual({ seed, text: 'done:' })
      expect({ seed, files: Object.fromEntries(Object.keys(expected).map((path) => [path, at(work, path)])) }).toEqual({
        seed,
        files: expected,
      })
      rmSync(join(work.folder, `s${seed}`), { recursive: true })
    }
    expect(readdirSync(work.folder)).toEqual([])
  })
})
