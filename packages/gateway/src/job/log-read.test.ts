import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@parley/store'
import { execute } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { readLog, readTail } from './log-read.ts'

test('a log whose entries have lost their bytes is read to an end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-log-read-'))
  const url = `sqlite:${join(folder, 'store.db')}`
  const store = await openStore({ url })
  try {
    await store.logs.append('one', [Buffer.from('first\n'), Buffer.from('second\n')])
    expect((await readLog(store.logs, 'one', 0, 1_000)).toString()).toBe('first\nsecond\n')
    await execute(url, `UPDATE log_entries SET bytes = x''`, [])
    expect(await readLog(store.logs, 'one', 0, 1_000)).toHaveLength(0)
    expect(await readTail(store.logs, 'one', 5)).toBe('')
    // A resend is compared with what stands there.
    expect(await store.logs.append('one', [Buffer.from('first\n')], { at: { offset: 0 } })).toMatchObject({ kind: 'mismatch' })
    await execute(url, `UPDATE log_entries SET end_offset = 3 WHERE seq = 1`, [])
    expect(await store.logs.append('one', [Buffer.from('first\n')], { at: { offset: 0 } })).toMatchObject({ kind: 'mismatch' })
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
})
