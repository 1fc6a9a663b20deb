import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOB_LIMITS } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { LogFile } from './log-file.ts'
import { parsePlace } from './log-place.ts'

function openFile(offset = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-log-file-'))
  const file = new LogFile(folder, 'terminal', offset)
  onTestFinished(() => {
    file.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const path = join(folder, 'terminal.log')
  return { folder, file, path, place: () => parsePlace(readFileSync(join(folder, 'terminal.place'))) }
}
const push = (file: LogFile, text: string): void => file.push(Buffer.from(text))

test('what was said is on disk at once, for its owner alone, and how far it got beside it', () => {
  const { folder, file, path, place } = openFile(100)
  push(file, 'one\n')
  push(file, 'two\n')
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600])
  expect(place()).toEqual({ acked: 0, offset: 100, sent: 0 })
  expect(file.next(6).toString()).toBe('one\n')
  file.sending(4)
  expect(place()).toEqual({ acked: 0, offset: 100, sent: 4 })
  file.arrived(4, 104)
  expect(place()).toEqual({ acked: 4, offset: 104, sent: 4 })
  expect([file.size, file.next(100).toString()]).toEqual([4, 'two\n'])
})

test('a line that is longer than one append goes in parts', () => {
  const { file } = openFile()
  push(file, 'abcdef\n')
  expect(file.next(4).toString()).toBe('abcd')
})

test('a gateway that keeps saying that its log is empty does not fill the disk; the rest waits in memory', () => {
  const { file, path } = openFile()
  let broken = 0
  file.onBroken = () => void (broken += 1)
  const piece = Buffer.alloc(1024 * 1024, 'x')
  for (let round = 0; round < 8; round += 1) {
    file.push(piece)
    file.sending(piece.length)
    file.arrived(file.next(piece.length).length, 0)
  }
  expect(broken).toBe(1)
  expect(statSync(path).size).toBeLessThanOrEqual(JOB_LIMITS.terminalLogBytes)
  push(file, 'last')
  expect(file.next(100).toString()).toBe('last')
})

test('a file that somebody cut off is told as lost, and what comes after it goes on', () => {
  const { file, path } = openFile()
  const lost: number[] = []
  file.onUnreadable = (bytes) => void lost.push(bytes)
  push(file, 'one\ntwo\n')
  truncateSync(path, 3)
  expect(file.next(100)).toHaveLength(0)
  expect([file.size, lost]).toEqual([0, [8]])
  push(file, 'three\n')
  expect(file.next(100).toString()).toBe('three\n')
})

test('words that come after the end are nobody’s', () => {
  const { file, path } = openFile()
  push(file, 'one')
  file.close()
  push(file, 'two')
  expect([file.size, file.next(10).length, readFileSync(path, 'utf8')]).toEqual([0, 0, 'one'])
})
