import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { answerTask, DEFAULT_TASK_LIMITS, followTask, type Task, type TaskLimits, TaskTable } from './index.ts'

const question = { method: 'elicitation/create', params: { message: 'Who?' } }

function open(table: TaskTable, person = 'ada', key = `token of ${person}`) {
  const stopped: string[] = []
  const over = vi.fn<() => void>()
  const task = table.open({
    owner: { key, person },
    words: 'waits',
    requestBytes: 1,
    stop: ({ message }) => stopped.push(message),
    over,
  })
  if (task === undefined) throw new Error('there was no room')
  return { task, stopped, over }
}
const tableOf = (limits: Partial<TaskLimits> = {}): TaskTable => new TaskTable({ ...DEFAULT_TASK_LIMITS, ...limits })
const told = (task: Task): unknown => JSON.parse(task.detailed())

test('a task works, asks under keys that never come again, takes answers one by one, and ends once', async () => {
  const { task, over } = open(tableOf())
  expect(told(task)).toMatchObject({ taskId: task.id, status: 'working', statusMessage: 'waits', pollIntervalMs: 2_000 })
  const first = task.ask({ name: question, more: question })
  expect(told(task)).toMatchObject({ status: 'input_required', inputRequests: { name: question, more: question } })
  task.answer({ name: { action: 'accept' }, unknown: { action: 'accept' } })
  expect(told(task)).toMatchObject({ status: 'input_required', inputRequests: { more: question } })
  expect(JSON.parse(task.detailed()).inputRequests).not.toHaveProperty('name')
  task.answer({ more: { action: 'decline' }, name: { action: 'cancel' } })
  expect(await first).toEqual({ name: { action: 'accept' }, more: { action: 'decline' } })
  expect(told(task)).toMatchObject({ status: 'working' })
  const again = task.ask({ name: question })
  expect(Object.keys(JSON.parse(task.detailed()).inputRequests)).toEqual(['name-2'])
  task.answer({ 'name-2': { action: 'accept', content: { name: 'Ada' } } })
  expect(await again).toEqual({ name: { action: 'accept', content: { name: 'Ada' } } })
  task.complete('{"content":[]}')
  task.fail({ code: 1, message: 'too late' })
  task.cancel()
  expect(told(task)).toMatchObject({ status: 'completed', result: { content: [] } })
  expect(over).toHaveBeenCalledOnce()
})

test('one that is cancelled stops its work, takes back its questions and drops what comes later', async () => {
  const { task, stopped } = open(tableOf())
  const asked = task.ask({ name: question })
  expect(await answerTask(task, 'tasks/cancel', {})).toBe('{}')
  await expect(asked).rejects.toThrow('the task has ended')
  task.complete('{}')
  expect(stopped).toEqual(['cancelled by the client'])
  expect(told(task)).toMatchObject({ status: 'cancelled' })
  await answerTask(task, 'tasks/cancel', {})
  expect(stopped).toHaveLength(1)
})

test('a task is found by the key alone that it was made with', () => {
  const table = tableOf()
  const { task } = open(table, 'ada', 'one')
  expect(table.find(task.id, 'one')).toBe(task)
  expect(table.find(task.id, 'another')).toBeUndefined()
  expect(table.find('task_none', 'one')).toBeUndefined()
})

test('a person has so many, and all together so many: what has ended and was read makes room, what was not stays', () => {
  const table = tableOf({ tasksPerCaller: 2, tasks: 3 })
  const [first, second] = [open(table), open(table)]
  const start = {
    owner: { key: 'k', person: 'ada' },
    words: undefined,
    requestBytes: 1,
    stop: () => undefined,
    over: () => undefined,
  }
  expect(table.open(start)).toBeUndefined()
  first.task.complete('{}')
  expect(table.open(start)).toBeUndefined()
  first.task.detailed()
  open(table)
  expect(table.find(first.task.id, first.task.owner.key)).toBeUndefined()
  open(table, 'bob')
  expect(table.open({ ...start, owner: { key: 'k', person: 'eve' } })).toBeUndefined()
  second.task.fail({ code: -32_603, message: 'no' })
  second.task.detailed()
  expect(open(table, 'eve').task).toBeDefined()
  expect(table.size).toBe(3)
})

test('a result without room is told as that, and room comes from what was read', () => {
  const table = tableOf({ taskBytesPerCaller: 100 })
  const [one, two, three, four] = [open(table).task, open(table).task, open(table).task, open(table, 'bob').task]
  one.complete(JSON.stringify({ text: 'x'.repeat(80) }))
  two.complete(JSON.stringify({ text: 'x'.repeat(80) }))
  expect(told(two)).toMatchObject({ status: 'failed', error: { code: -32_970, message: expect.stringContaining('no room') } })
  one.detailed()
  three.complete(JSON.stringify({ text: 'y'.repeat(80) }))
  expect(told(three)).toMatchObject({ status: 'completed' })
  four.complete(JSON.stringify({ text: 'x'.repeat(80) }))
  expect(told(four)).toMatchObject({ status: 'completed' })
})

test('a request counts until its call has ended', () => {
  const table = tableOf({ taskBytesPerCaller: 100 })
  const start = { owner: { key: 'k', person: 'ada' }, words: undefined, requestBytes: 60, stop: () => {}, over: () => {} }
  const first = table.open(start)
  expect(table.open(start)).toBeUndefined()
  expect(table.open({ ...start, owner: { key: 'k', person: 'bob' } })).toBeDefined()
  first?.complete('{}')
  expect(table.open(start)).toBeDefined()
})

test('one that works for too long is stopped and forgotten; a result is kept for its time after the end', async () => {
  const table = tableOf({ taskMs: 20, taskKeptMs: 60_000 })
  const slow = open(table)
  const quick = open(table)
  quick.task.complete('{}')
  expect(quick.task.view().ttlMs).toBeGreaterThanOrEqual(60_000)
  while (table.find(slow.task.id, slow.task.owner.key) !== undefined) await sleep(5)
  expect(slow.stopped).toEqual(['the task took too long'])
  expect(slow.over).toHaveBeenCalledOnce()
  expect(table.find(quick.task.id, quick.task.owner.key)).toBe(quick.task)
  table.forget(quick.task.id, 'over')
})

test('who follows a task hears how it stands and each change, the newest last, until told to stop', async () => {
  const { task } = open(tableOf())
  const heard: string[] = []
  const stop = followTask(task, (text) => heard.push(JSON.parse(text).status))
  await vi.waitFor(() => expect(heard).toEqual(['working']))
  void task.ask({ name: question }).catch(() => undefined)
  await vi.waitFor(() => expect(heard).toEqual(['working', 'input_required']))
  stop()
  task.cancel()
  await sleep(0)
  expect(heard).toEqual(['working', 'input_required'])
})

test('what a client sends is checked', async () => {
  const { task } = open(tableOf())
  await expect(answerTask(task, 'tasks/update', {})).rejects.toThrow('inputResponses must be an object')
  await expect(answerTask(task, 'tasks/update', { inputResponses: { name: 3 } })).rejects.toThrow('inputResponses.name')
})
