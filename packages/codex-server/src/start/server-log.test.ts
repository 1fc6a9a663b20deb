import { expect, test } from 'vitest'
import { codexLine, openServerLog } from './server-log.ts'

function heard(env: Readonly<Record<string, string>>): string[] {
  const lines: string[] = []
  const log = openServerLog(
    env,
    (text) => lines.push(text.trimEnd()),
    () => 0,
  )
  for (const level of ['debug', 'info', 'error'] as const)
    for (const target of ['parley_codex', 'codex'] as const) log(level, target, 'said')
  return lines.map((line) => line.replace(/^\S+\s+(\w+) (\w+): said$/, '$1 $2'))
}

test.each<[string, Readonly<Record<string, string>>, string[]]>([
  ['nothing', {}, ['INFO parley_codex', 'INFO codex', 'ERROR parley_codex', 'ERROR codex']],
  ['a level', { RUST_LOG: 'error' }, ['ERROR parley_codex', 'ERROR codex']],
  [
    'targets',
    { RUST_LOG: 'error,parley_codex=debug' },
    ['DEBUG parley_codex', 'INFO parley_codex', 'ERROR parley_codex', 'ERROR codex'],
  ],
  ['a target that is off', { RUST_LOG: 'info, codex=off' }, ['INFO parley_codex', 'ERROR parley_codex']],
  [
    'a target alone',
    { RUST_LOG: 'parley_codex' },
    ['DEBUG parley_codex', 'INFO parley_codex', 'ERROR parley_codex', 'ERROR codex'],
  ],
  ['off', { RUST_LOG: 'off' }, []],
  ['our own word', { PARLEY_LOG: 'silent', RUST_LOG: 'debug' }, []],
])('%s', (_what, env, lines) => expect(heard(env)).toEqual(lines))

test('a directive that cannot be read is told and left out', () => {
  const lines: string[] = []
  openServerLog(
    { RUST_LOG: 'info,codex=loud' },
    (text) => lines.push(text),
    () => 0,
  )
  expect(lines).toEqual(['1970-01-01T00:00:00.000Z  WARN parley_codex: the log directive "codex=loud" cannot be read\n'])
})

test("lines of Codex's own log keep their level and lose their colours", () => {
  const lines: unknown[] = []
  const line = codexLine((...said) => lines.push(said))
  line('\u{1b}[2m2026-11-15T18:18:29Z\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m codex_core: careful')
  line('plain words')
  line('  ')
  expect(lines).toEqual([
    ['warn', 'codex', '2026-11-15T18:18:29Z  WARN codex_core: careful', 'codex_core'],
    ['info', 'codex', 'plain words', undefined],
  ])
})

test.each<[string, string[]]>([
  ['warn', ['login']],
  ['warn,codex_core=debug', ['turn', 'login']],
  ['codex_core::turn=debug', ['turn']],
  ['codex=off,codex_core::turn=debug', ['turn']],
  ['info,codex_login=off', ['turn']],
])('%s: a directive may name a part of Codex', (RUST_LOG, said) => {
  const lines: string[] = []
  const log = openServerLog(
    { RUST_LOG },
    (text) => lines.push(text.trimEnd()),
    () => 0,
  )
  const line = codexLine(log)
  line('2026-11-15T18:18:29Z  INFO session{id="a: b"}:turn{n=1}: codex_core::turn: turn')
  line('2026-11-15T18:18:29Z  WARN codex_login: login')
  expect(lines.map((text) => text.split(' ').at(-1))).toEqual(said)
})
