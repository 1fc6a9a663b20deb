import { expect, test } from 'vitest'
import { type CodexFile, VersionDetector } from './version-detect.ts'

const FILE: CodexFile = { path: '/bin/codex', mtimeMs: 1, ctimeMs: 2, sizeBytes: 3, inode: 4 }

/** A Codex that counts how often it is asked. */
function codex(...answers: readonly (string | Error)[]) {
  const asked: (readonly string[])[] = []
  const run = async (args: readonly string[]) => {
    asked.push(args)
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? ''
    if (answer instanceof Error) throw answer
    return { stdout: answer, stderr: 'a complaint', code: answer === '' ? 1 : 0 }
  }
  return { asked, run }
}

test('a Codex is asked once as long as its file stays the same', async () => {
  const detector = new VersionDetector()
  const { asked, run } = codex('codex-cli 0.44.0\n', 'codex-cli 0.166.0\n')
  const both = await Promise.all([detector.detect({ run, file: FILE }), detector.detect({ run, file: FILE })])
  expect(both.map((found) => found.kind === 'supported' && found.version.text)).toEqual(['0.44.0', '0.44.0'])
  expect(asked).toEqual([['--version']])
  for (const changed of [{ mtimeMs: 9 }, { ctimeMs: 9 }, { sizeBytes: 9 }, { inode: 9 }, { path: '/other/codex' }])
    expect(await detector.detect({ run, file: { ...FILE, ...changed } })).toMatchObject({ version: { text: '0.166.0' } })
  expect(asked).toHaveLength(6)
})

test('an override is taken without asking', async () => {
  const { asked, run } = codex('codex-cli 0.44.0')
  const detector = new VersionDetector()
  expect(await detector.detect({ run, file: FILE, override: '0.42.0' })).toMatchObject({ version: { text: '0.42.0' } })
  expect(await detector.detect({ run, override: 'x' })).toMatchObject({ kind: 'unreadable' })
  expect(asked).toEqual([])
})

test('a Codex that fails is told by what it said, and asked again the next time', async () => {
  const detector = new VersionDetector()
  const { run } = codex('', new Error('spawn ENOENT'), 'codex-cli 0.44.0')
  expect(await detector.detect({ run, file: FILE })).toEqual({
    kind: 'failed',
    message: 'codex --version ended with 1 and said "a complaint"',
  })
  expect(await detector.detect({ run, file: FILE })).toEqual({ kind: 'failed', message: 'codex --version: spawn ENOENT' })
  expect(await detector.detect({ run, file: FILE })).toMatchObject({ kind: 'supported' })
})

test('a Codex that does not answer is given up, and told so', async () => {
  let gaveUp = false
  const run = (_: readonly string[], signal: AbortSignal) =>
    new Promise<never>(() => signal.addEventListener('abort', () => (gaveUp = true)))
  expect(await new VersionDetector().detect({ run, timeoutMs: 5 })).toEqual({
    kind: 'failed',
    message: 'codex --version said nothing in 5 ms',
  })
  expect(gaveUp).toBe(true)
})
