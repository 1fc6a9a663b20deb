import { expect, test } from 'vitest'
import { compareVersions, isWithin, knownVersion, parseVersion } from './version.ts'
import { SERVES, servesOf, supportOf } from './version-support.ts'

test.each([
  ['codex-cli 0.42.0\n', '0.42.0'],
  ['Codex CLI v0.44.0', '0.44.0'],
  ['codex 0.44.0', '0.44.0'],
  ['0.44', '0.44.0'],
  ['v0.153.4', '0.153.4'],
  ['codex-cli 0.167.0-alpha.3', '0.167.0-alpha.3'],
  ['0.44.0+build.5', '0.44.0'],
  ['WARNING: proceeding without a config\ncodex-cli 0.166.0\n', '0.166.0'],
])('%j is read as %s', (text, version) => {
  expect(parseVersion(text)?.text).toBe(version)
})

test.each([
  [''],
  ['codex'],
  ['0'],
  ['version four'],
  ['1.2.3.4'],
  ['0.44.x'],
  ['Error: 0.44.0 is broken'],
  ['x'.repeat(100_000)],
])('%j is no version', (text) => {
  expect(parseVersion(text)).toBeUndefined()
})

test('versions are ordered as Semantic Versioning has it', () => {
  const ordered = [
    '0.9.0',
    '0.42.0-alpha.2',
    '0.42.0-alpha.10',
    '0.42.0-alpha.10.1',
    '0.42.0-beta',
    '0.42.0',
    '0.107.12',
    '1.0.0',
  ]
  const shuffled = ordered.toReversed().map(knownVersion)
  expect(shuffled.toSorted(compareVersions).map(({ text }) => text)).toEqual(ordered)
  expect(compareVersions(knownVersion('0.44.0'), knownVersion('0.44'))).toBe(0)
})

test('a last version without a patch holds all its patches, and a prerelease counts as its release', () => {
  expect(isWithin(knownVersion('0.107.31'), '0.43.0', '0.107')).toBe(true)
  expect(isWithin(knownVersion('0.108.0'), '0.43.0', '0.107')).toBe(false)
  expect(isWithin(knownVersion('0.108.0-alpha.1'), '0.108.0', null)).toBe(true)
})

test('below 0.42 is refused with the supported range', () => {
  expect(supportOf('codex-cli 0.41.9')).toMatchObject({
    kind: 'too-old',
    message: 'Codex 0.41.9 is not supported; supported: 0.42.0 and newer (recorded up to 0.166.0)',
  })
})

test('newer than was recorded goes on and says so', () => {
  expect(supportOf('0.166.0')).toMatchObject({ kind: 'supported', known: true })
  const newer = supportOf('codex-cli 0.167.0-alpha.3')
  expect(newer).toMatchObject({ kind: 'supported', known: false })
  expect(newer.kind === 'supported' && !newer.known ? newer.note : '').toContain('0.167.0-alpha.3 is newer than 0.166.0')
})

test('what is no version is said to be none', () => {
  expect(supportOf('latest')).toEqual({
    kind: 'unreadable',
    message: '"latest" is no version of Codex; one looks like 0.44.0 or codex-cli 0.44.0',
  })
})

test.each([
  ['0.42.0', ['mcp'], ['mcp'], 'mcp', true],
  ['0.42.3', ['mcp'], ['mcp'], 'mcp', true],
  ['0.43.0', ['mcp-server'], ['app-server'], 'v1', false],
  ['0.107.4', ['mcp-server'], ['app-server'], 'v1', false],
  ['0.108.0', ['mcp-server'], ['app-server'], 'v2', false],
  ['0.153.4', ['mcp-server'], ['app-server'], 'v2', false],
  ['0.154.0', null, ['app-server'], 'v2', false],
  ['0.200.0', null, ['app-server'], 'v2', false],
])('%s serves its tools by %j and its methods by %j', (version, mcpServer, appServer, bridge, jsonrpc) => {
  expect(servesOf(knownVersion(version))).toMatchObject({ mcpServer, appServer, bridge, jsonrpc })
})

test('every supported version is in one row', () => {
  const all = Array.from({ length: 160 }, (_, index) => knownVersion(`0.${index + 42}.7`))
  expect(all.map((version) => SERVES.filter(({ from, to }) => isWithin(version, from, to)).length)).toEqual(all.map(() => 1))
  expect(servesOf(knownVersion('0.41.0'))).toBeUndefined()
})
