import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LogFile } from './late/log-file.ts'
import { type Appended, Uploader } from './uploader.ts'
import { WaitingPieces } from './waiting-bytes.ts'

/** A log as the gateway keeps it. `fault` decides for each send what happens to it. */
function openLog({ start = '', capBytes = 1_000_000, fault = (): Fault => 'none' } = {}) {
  let kept = start
  const sends: string[] = []
  const write = (offset: number, bytes: Buffer): Appended => {
    const end = Buffer.byteLength(kept)
    if (offset !== end) return { ok: false, code: 'offset_mismatch', current_offset: end, action: 'continue' }
    if (end + bytes.length > capBytes) return { ok: true, next_offset: end, written_bytes: 0, action: 'continue' }
    kept += bytes.toString()
    return { ok: true, next_offset: end + bytes.length, written_bytes: bytes.length, action: 'continue' }
  }
  const append = async (offset: number, bytes: Buffer, onRetry: () => void): Promise<Appended> => {
    await new Promise<void>((resolve) => setImmediate(resolve))
    sends.push(bytes.toString())
    for (;;) {
      const what = fault()
      if (what === 'refused') throw new Error('refused for good')
      if (what === 'answer-lost') write(offset, bytes)
      if (what === 'none') return write(offset, bytes)
      onRetry()
    }
  }
  return { append, sends, text: () => kept, add: (text: string) => void (kept += text) }
}
type Fault = 'none' | 'request-lost' | 'answer-lost' | 'refused'

const parts = (log: ReturnType<typeof openLog>, more: { offset?: number; limitBytes?: number; appendBytes?: number } = {}) => ({
  offset: 0,
  limitBytes: 1_000_000,
  appendBytes: 64,
  mismatches: 8,
  waiting: new WaitingPieces(),
  append: log.append,
  warn: () => {},
  ...more,
})

/** The file of a log, gone when the test is. */
function openFile(offset: number): LogFile {
  const folder = mkdtempSync(join(tmpdir(), 'parley-uploader-'))
  const file = new LogFile(folder, 'terminal', offset)
  onTestFinished(() => {
    file.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return file
}

test('what is written at once goes up in one append, in order', async () => {
  const log = openLog()
  const uploader = new Uploader(parts(log))
  for (const line of ['a\n', 'b\n', 'c\n']) uploader.write(Buffer.from(line))
  await uploader.flush()
  expect(log).toMatchObject({ sends: ['a\nb\nc\n'] })
  expect(log.text()).toBe('a\nb\nc\n')
})

test('a line never travels in two parts unless it is longer than one append', async () => {
  const log = openLog()
  const uploader = new Uploader(parts(log, { appendBytes: 10 }))
  for (const line of ['aaaaaa\n', 'bbbbbb\n', `${'c'.repeat(14)}\n`]) uploader.write(Buffer.from(line))
  await uploader.flush()
  expect(log.sends).toEqual(['aaaaaa\n', 'bbbbbb\n', 'c'.repeat(10), 'cccc\n'])
})

test('who has to leave room is cut off before the log is full, and others still write', async () => {
  const log = openLog()
  const said: string[] = []
  const uploader = new Uploader({ ...parts(log, { limitBytes: 12 }), warn: (message) => said.push(message) })
  for (const line of ['aaa\n', 'bbb\n', 'ccc\n']) uploader.write(Buffer.from(line), 4)
  uploader.write(Buffer.from('end\n'))
  uploader.write(Buffer.from('x\n'))
  await uploader.flush()
  expect(log.text()).toBe('aaa\nbbb\nend\n')
  expect(said).toEqual([
    'the log is nearly full: what is left of it is for the judge',
    'the log is full: what comes now is left out',
  ])
})

test.each(['memory', 'file'])('whatever gets lost on the way, the log holds every byte once (from %s)', async (place) => {
  let random = 12_345
  const roll = (): number => (random = (random * 48_271) % 2_147_483_647)
  const faults: Fault[] = ['none', 'request-lost', 'answer-lost', 'none']
  const log = openLog({ start: 'before\n', fault: () => faults[roll() % faults.length] ?? 'none' })
  const offset = 'before\n'.length
  const waiting = place === 'file' ? openFile(offset) : new WaitingPieces()
  const uploader = new Uploader({ ...parts(log, { offset }), waiting })
  let expected = 'before\n'
  for (let line = 0; line < 500; line += 1) {
    const text = `${line} ${'x'.repeat(roll() % 90)}\n`
    expected += text
    uploader.write(Buffer.from(text))
    if (roll() % 3 === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await uploader.flush()
  expect(log.text()).toBe(expected)
})

test('bytes of somebody else at our place are not taken for ours', async () => {
  const log = openLog({ start: 'xy' })
  const uploader = new Uploader(parts(log, { offset: 0 }))
  uploader.write(Buffer.from('mine'))
  await uploader.flush()
  expect(log.text()).toBe('xymine')
})

test('past its cap the log stays as it is and nothing fails', async () => {
  const log = openLog({ capBytes: 10 })
  const uploader = new Uploader(parts(log, { appendBytes: 8 }))
  for (let line = 0; line < 4; line += 1) uploader.write(Buffer.from('1234567\n'))
  await uploader.flush()
  expect(log.text()).toBe('1234567\n')
  const bounded = openLog()
  const own = new Uploader(parts(bounded, { limitBytes: 16 }))
  for (let line = 0; line < 4; line += 1) own.write(Buffer.from('1234567\n'))
  await own.flush()
  expect(bounded.text()).toBe('1234567\n1234567\n')
})

test('an append that is refused for good is told by flush', async () => {
  const uploader = new Uploader(parts(openLog({ fault: () => 'refused' })))
  uploader.write(Buffer.from('a'))
  await expect(uploader.flush()).rejects.toThrow('refused for good')
})

test('a log that always stands elsewhere is given up', async () => {
  const log = openLog()
  const append = async (...args: Parameters<typeof log.append>) => {
    log.add('?')
    return log.append(...args)
  }
  const uploader = new Uploader({ ...parts(log), append })
  uploader.write(Buffer.from('a'))
  await expect(uploader.flush()).rejects.toThrow('elsewhere')
})
