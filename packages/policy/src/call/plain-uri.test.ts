import { expect, test } from 'vitest'
import { isPlainUri } from './plain-uri.ts'

test.each([
  'file:///src/a.ts',
  'note://x',
  'urn:a:b',
  'https://h/a?b=c#d',
  'file:///a/.hidden/..x/x..',
  'x://a/%20b',
  'db://t/1.5',
])('%s says where it leads', (uri) => expect(isPlainUri(uri)).toBe(true))

test.each([
  'file:///src/../etc/passwd',
  'file:///src/..',
  'file:///src/./a',
  'file:///src/%2e%2e/etc',
  'file:///src/.%2E/etc',
  'file:///src/%2e%2e%2fetc',
  'file:///src/%252e%252e/etc',
  'file:///src/%25252e%25252e/etc',
  'file:///src/%2525252525252e./etc',
  'file:///src\\..\\etc',
  'file:///src/..%5cetc',
  'x://a?path=../b',
  'file:///a b',
  'file:///a\u0000',
  'file:///a\n',
])('%s does not', (uri) => expect(isPlainUri(uri)).toBe(false))
