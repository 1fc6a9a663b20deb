import { describe, expect, test } from 'vitest'
import { readName, shownName } from './mount-name.ts'
import { readUri, showUri } from './shown-uri.ts'

test.each([
  ['test://a/b', 'test://gh/a/b'],
  ['file:///x', 'file://gh//x'],
  ['file:/x', 'file:gh//x'],
  ['urn:a:b', 'urn:gh/a:b'],
  ['mailto:a@b', 'mailto:gh/a@b'],
  ['data:,', 'data:gh/,'],
  ['x:', 'x:gh/'],
  ['x://', 'x://gh/'],
  ['x:///', 'x://gh//'],
  ['a+b-c.d://h', 'a+b-c.d://gh/h'],
  ['http://{host}/{+path}{?q*}', 'http://gh/{host}/{+path}{?q*}'],
  ['urn:{nss}', 'urn:gh/{nss}'],
])('%s is shown as %s', (uri, shown) => {
  expect(showUri('gh', uri)).toBe(shown)
  expect(readUri(shown)).toEqual({ mount: 'gh', uri })
})

test.each(['', 'x', '/x', '//x', '{scheme}://x', '{+uri}', '1a:b', ':x', ' a:b', 'ä:b'])('%j has no scheme to show', (uri) => {
  expect(showUri('gh', uri)).toBeUndefined()
})

test('what is not the URI of any mount is read as none', () => {
  expect(['x', 'urn:a', 'x://host', 'x:', 'x://'].map(readUri)).toEqual([undefined, undefined, undefined, undefined, undefined])
})

describe('whatever a server calls its things', () => {
  const PIECES = [
    'a',
    '/',
    '//',
    ':',
    '://',
    '_',
    '__',
    'gh',
    'gh/',
    'other',
    'other/',
    '{x}',
    '?',
    '#',
    '%2F',
    '\0',
    'é',
    '😀',
    ' ',
    '..',
  ]
  /** All sequences of three pieces. */
  const texts = PIECES.flatMap((one) => PIECES.flatMap((two) => PIECES.map((three) => `${one}${two}${three}`)))

  test('its URIs come back, and name no other mount', () => {
    for (const mount of ['gh', 'a', 'other-1'])
      for (const text of texts) {
        const uri = `s:${text}`
        expect(readUri(showUri(mount, uri) ?? '')).toEqual({ mount, uri })
      }
  })

  test('no two mounts and URIs are shown alike', () => {
    const shown = ['gh', 'other', 'g'].flatMap((mount) => texts.map((text) => showUri(mount, `s:${text}`)))
    expect(new Set(shown).size).toBe(new Set(texts).size * 3)
  })

  test('fault 3: its names come back, and none passes for one of another mount', () => {
    for (const mount of ['gh', 'resources-evil'])
      for (const text of texts) expect(readName(shownName(mount, text))).toEqual({ mount, name: text })
  })
})
