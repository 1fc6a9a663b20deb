import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePipe } from './fixture/make-pipe.ts'
import { openWork } from './fixture/open-work.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('read_file', () => {
  test('numbers the lines and says that the file ends', async () => {
    await using work = await openWork({ files: { f: 'one\n\nthree' } })
    expect(await work.text('read_file', { path: 'f' })).toBe(
      '     1\tone\n     2\t\n     3\tthree\n[lines 1 to 3 of f: 3 lines, 10 bytes; end of file]',
    )
  })

  test('goes on where it stopped, until nothing is left, and nothing is lost or twice', async () => {
    await using work = await openWork({ files: { f: numbered(1_000) }, limits: { resultBytes: 2_000 } })
    const seen: string[] = []
    for (let offset: number | null = 1; offset !== null;) {
      const text: string = await work.text('read_file', { path: 'f', offset })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000)
      seen.push(
        ...text
          .split('\n')
          .slice(0, -1)
          .map((line) => line.slice(7)),
      )
      const next: RegExpExecArray | null = /next offset (\d+)/.exec(text)
      offset = next === null ? null : Number(next[1])
    }
    expect(seen.join('\n')).toBe(numbered(1_000).trimEnd())
  })

  test('reads a window', async () => {
    await using work = await openWork({ files: { f: numbered(10) } })
    expect(await work.text('read_file', { path: 'f', offset: 4, limit: 2 })).toBe(
      '     4\tline 4\n     5\tline 5\n[lines 4 to 5 of f: 10 lines, 71 bytes; next offset 6]',
    )
    expect(await work.text('read_file', { path: 'f', offset: 10, limit: 5 })).toContain('end of file')
    expect(await work.call('read_file', { path: 'f', offset: 11 })).toMatchObject({
      isError: true,
      parts: [{ text: 'f has no line 11: it has 10 lines, 71 bytes' }],
    })
  })

  test('cuts long lines without parting a character', async () => {
    await using work = await openWork({ files: { f: `x${'ü'.repeat(500_000)}\nnext\n` } })
    const text = await work.text('read_file', { path: 'f' })
    expect(text).toContain(' bytes left out …\n     2\tnext\n')
    expect([text.length < 4_000, text.includes('\uFFFD')]).toEqual([true, false])
  })

  test('says plainly what it is: empty, binary, not UTF-8, CRLF', async () => {
    const files = { empty: '', bin: new Uint8Array([1, 0, 2]), latin: Buffer.from('ok\ncaf\xe9\n', 'latin1'), crlf: 'a\r\nb\r\n' }
    await using work = await openWork({ files })
    expect(await work.text('read_file', { path: 'empty' })).toBe('[empty is empty]')
    expect(await work.call('read_file', { path: 'bin' })).toMatchObject({
      isError: true,
      parts: [{ text: 'bin is a binary file of 3 bytes: it has no lines to read' }],
    })
    expect(await work.text('read_file', { path: 'latin' })).toContain(
      'caf\uFFFD\n[lines 1 to 2 of latin: 2 lines, 8 bytes; end of file; not UTF-8 from line 2 on',
    )
    expect(await work.text('read_file', { path: 'crlf' })).toBe(
      '     1\ta\n     2\tb\n[lines 1 to 2 of crlf: 2 lines, 6 bytes; end of file; lines end with CRLF]',
    )
  })

  test('finds the first line that is not UTF-8 across the pieces it reads, and takes parted characters for whole', async () => {
    const good = 'ü漢😀'.repeat(100_000)
    await using work = await openWork({
      files: { good, bad: Buffer.concat([Buffer.from(`${good}\n${good}\n`), Buffer.from([0xff, 10])]) },
    })
    expect(await work.text('read_file', { path: 'good' })).not.toContain('not UTF-8')
    expect(await work.text('read_file', { path: 'bad' })).toContain('not UTF-8 from line 3 on')
  })

  test('shows images by what they are, within a bound', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
      'base64',
    )
    await using work = await openWork({
      files: { 'picture.txt': png, 'large.png': Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]) },
    })
    expect(await work.call('read_file', { path: 'picture.txt' })).toEqual({
      isError: false,
      parts: [
        { type: 'text', text: `picture.txt: image/png, ${png.length} bytes` },
        { type: 'image', url: `data:image/png;base64,${png.toString('base64')}` },
      ],
    })
    expect(await work.text('read_file', { path: 'large.png' })).toContain('4194304 at most can be looked at')
  })

  test('does not wait for a pipe, and does not read what is not there or not allowed', async () => {
    await using work = await openWork()
    makePipe(join(work.folder, 'pipe'))
    writeFileSync(join(work.outside, 'secret'), 's')
    expect(await work.text('read_file', { path: 'pipe' })).toBe('pipe is not a regular file (a pipe, a socket or a device)')
    expect(await work.text('read_file', { path: 'none' })).toBe('none: there is no such file')
    expect(await work.text('read_file', { path: '../outside/secret' })).toContain('it leads out of the working folder')
    expect(await work.text('read_file', { path: '../outside/secret' }, { reach: 'full-access' })).toContain('     1\ts\n')
  })

  test('arguments that do not fit are told by name', async () => {
    await using work = await openWork()
    await expect(work.call('read_file', { path: 1 })).rejects.toThrow('the arguments do not fit: path: ')
    await expect(work.call('read_file', {})).rejects.toThrow('path: ')
    await expect(work.call('read_file', { path: 'x', offset: 0 })).rejects.toThrow('offset: ')
    await expect(work.call('read_file', { path: 'x', lines: 1 })).rejects.toThrow('lines')
  })
})
