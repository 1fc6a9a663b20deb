import { CallCancelled } from '@parley/protocol/wire'
import { expect, test } from 'vitest'
import { Rounds } from './rounds.ts'
import type { Task } from './task.ts'
import { DEFAULT_TASK_LIMITS } from './task-limits.ts'
import { TaskTable } from './task-table.ts'

const LONG_MS = 600_000

function openRounds(): { readonly rounds: Rounds; readonly task: Task; readonly stopped: Error[] } {
  const tasks = new TaskTable(DEFAULT_TASK_LIMITS)
  const stopped: Error[] = []
  const owner = { key: 'me', person: 'ada' }
  const task = tasks.open({ owner, words: undefined, requestBytes: 1, stop: (why) => stopped.push(why), over: () => {} })
  if (task === undefined) throw new Error('there is room for one')
  const rounds = new Rounds(tasks, { roundMs: LONG_MS, roundAwayMs: LONG_MS })
  rounds.begin(task)
  return { rounds, task, stopped }
}

test('a client that cancels while it waits ends the call, one whose connection goes does not', async () => {
  const { rounds, task, stopped } = openRounds()
  const cut = new AbortController()
  const first = rounds.next(task.id, 'me', {}, cut.signal)
  cut.abort(new Error('the connection has gone'))
  expect(await first).toEqual({ kind: 'again', questions: {} })
  expect(stopped).toEqual([])
  const cancelling = new AbortController()
  const second = rounds.next(task.id, 'me', {}, cancelling.signal)
  cancelling.abort(new CallCancelled('enough'))
  await expect(second).rejects.toThrow('the call was ended')
  expect(stopped).toMatchObject([{ message: 'enough' }])
})

test('who asks later waits beside who asked before, and both hear the end', async () => {
  const { rounds, task } = openRounds()
  const { signal } = new AbortController()
  const both = [rounds.next(task.id, 'me', {}, signal), rounds.next(task.id, 'me', {}, signal)]
  task.complete('{"content":[]}')
  const end = { kind: 'result', result: { content: [] } }
  expect(await Promise.all(both)).toEqual([end, end])
})

test('what a call failed with is what its rounds fail with', async () => {
  const { rounds, task } = openRounds()
  task.fail({ code: -32_951, message: 'denied', data: { reason: 'no' } })
  await expect(rounds.next(task.id, 'me', {}, new AbortController().signal)).rejects.toMatchObject({
    code: -32_951,
    message: 'denied',
    data: { reason: 'no' },
  })
})

test('another key finds nothing', async () => {
  const { rounds, task } = openRounds()
  await expect(rounds.next(task.id, 'other', {}, new AbortController().signal)).rejects.toMatchObject({ code: -32_602 })
})
