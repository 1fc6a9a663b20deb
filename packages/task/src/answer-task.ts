import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol/wire'
import type { KnownTask } from './known-task.ts'

/** What the extension adds to the methods of a server. */
export const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel'])

const DONE = '{}'
const SHOWN_CHARS = 64

/** The task that a request is about. */
export function taskIdOf({ taskId }: JsonObject): string {
  if (typeof taskId !== 'string' || taskId === '')
    throw new RpcError('invalid_params', 'taskId must be a string', { field: 'taskId' })
  return taskId
}

/** One that never was, one that is over and somebody else's are all the same to whoever asks. */
export function noSuchTask(id: string): RpcError {
  return new RpcError('invalid_params', `there is no task ${id.slice(0, SHOWN_CHARS)}, or not any more`, { field: 'taskId' })
}

/** Answers a request of its owner, as the text of a JSON object. */
export async function answerTask(task: KnownTask, method: string, params: JsonObject): Promise<string> {
  switch (method) {
    case 'tasks/get':
      return task.detailed()
    case 'tasks/update':
      task.answer(responsesOf(params.inputResponses))
      return DONE
    default:
      await task.cancel()
      return DONE
  }
}

/** The answers of a client to what it was asked. They come from outside, so they are checked like any other input. */
export function responsesOf(value: unknown): Record<string, JsonObject> {
  if (!isJsonObject(value)) throw new RpcError('invalid_params', 'inputResponses must be an object', { field: 'inputResponses' })
  const answers = Object.entries(value).map(([key, answer]): [string, JsonObject] => {
    if (!isJsonObject(answer))
      throw new RpcError('invalid_params', `inputResponses.${key.slice(0, SHOWN_CHARS)} must be an object`, {
        field: `inputResponses.${key.slice(0, SHOWN_CHARS)}`,
      })
    return [key, answer]
  })
  // Not by assignment: a key `__proto__` would become the prototype, with members that nobody checked.
  return Object.fromEntries(answers)
}
