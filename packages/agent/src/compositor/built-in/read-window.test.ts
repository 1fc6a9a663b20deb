import { describe, expect, test } from 'vitest'
import { readContent } from '../shown/resource-content.ts'
import { type ResourceWindow, windowOf } from './read-window.ts'

/** All windows of one part, one after the other. */
function windowsOf(part: object, maxBytes: number) {
  const content = readContent({ contents: [{ uri: 'test://doc', ...part }] })
  const windows: ResourceWindow[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const window: ResourceWindow = windowOf(content, { part: 0, offset, maxBytes })
    windows.push(window)
    offset = window.next_offset
  }
  return windows
}

describe('fault 19: windows', () => {
  const TEXT = 'aé€😀 e\u0301 👩‍👩‍👧 끝\r\n'.repeat(5)

  test.each([4, 5, 6, 7, 8, 13, 64, 1_000])('of %d bytes split no character, and put together they are the text', (maxBytes) => {
    const windows = windowsOf({ text: TEXT }, maxBytes)
    expect(windows.map(({ text }) => text).join('')).toBe(TEXT)
    for (const { text = '', total, offset, next_offset: next, eof } of windows) {
      expect(text).not.toContain('\uFFFD')
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
      expect(total).toBe(Buffer.byteLength(TEXT))
      expect([eof, next]).toEqual(eof ? [true, null] : [false, offset + Buffer.byteLength(text)])
    }
    expect(windows.filter(({ eof }) => eof)).toHaveLength(1)
  })

  test.each([4, 5, 6, 100, 1_000])('of %d bytes split no group of base64, and put together they are the bytes', (maxBytes) => {
    const bytes = Buffer.from(Array.from({ length: 301 }, (_, index) => index % 256))
    const windows = windowsOf({ blob: bytes.toString('base64') }, maxBytes)
    expect(windows.map(({ blob }) => blob).join('')).toBe(bytes.toString('base64'))
    for (const { blob = '', total } of windows) {
      expect(blob.length % 4).toBe(0)
      expect(total).toBe(301)
    }
  })

  test('an offset in the middle of a character or a group begins before it, and says where', () => {
    const content = readContent({
      contents: [
        { uri: 'a', text: 'a😀b' },
        { uri: 'b', blob: 'AAECAwQF' },
      ],
    })
    for (const offset of [1, 2, 3, 4])
      expect(windowOf(content, { part: 0, offset, maxBytes: 4 })).toMatchObject({ text: '😀', offset: 1, next_offset: 5 })
    expect(windowOf(content, { part: 1, offset: 5, maxBytes: 4 })).toMatchObject({ blob: 'AwQF', offset: 3, eof: true })
  })

  test('several contents are parts; an end is an end, and beyond it is an error', () => {
    const content = readContent({
      contents: [
        { uri: 'a', mimeType: 'text/plain', text: 'one' },
        { uri: 'b', blob: 'AAEC' },
      ],
    })
    expect(windowOf(content, { part: 0, offset: 0, maxBytes: 100 })).toEqual({
      uri: 'a',
      mime_type: 'text/plain',
      text: 'one',
      offset: 0,
      next_offset: null,
      eof: true,
      total: 3,
      part: 0,
      parts: 2,
      next_part: 1,
      version: content.version,
    })
    expect(windowOf(content, { part: 1, offset: 0, maxBytes: 100 })).toMatchObject({
      blob: 'AAEC',
      next_part: null,
      mime_type: null,
    })
    expect(windowOf(content, { part: 0, offset: 3, maxBytes: 100 })).toMatchObject({ text: '', eof: true })
    expect(() => windowOf(content, { part: 0, offset: 4, maxBytes: 100 })).toThrow('offset: the part has 3 bytes')
    expect(() => windowOf(content, { part: 2, offset: 0, maxBytes: 100 })).toThrow('part: there are 2 parts')
    expect(() => windowOf(readContent({}), { part: 0, offset: 0, maxBytes: 100 })).toThrow('there are 0 parts')
  })

  test('the version is that of all the content', () => {
    const version = (...texts: string[]) => readContent({ contents: texts.map((text) => ({ uri: 'a', text })) }).version
    expect(version('a', 'b')).toBe(version('a', 'b'))
    expect(new Set([version('a', 'b'), version('ab'), version('', 'ab'), version('b', 'a'), version()]).size).toBe(5)
  })
})
