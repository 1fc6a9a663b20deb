import { expect, test } from 'vitest'
import type { Backend } from './backend.ts'
import { LazyBackend } from './lazy-backend.ts'

/** All that is asked of it here is that it closes. */
function closes(done: () => void): Backend {
  const backend: Pick<Backend, 'close'> = { close: async () => done() }
  return backend as Backend
}

test('it is opened once for all who need it, and again after a failure', async () => {
  const opened: string[] = []
  const lazy = new LazyBackend(async () => {
    opened.push('opened')
    if (opened.length === 1) throw new Error('not yet')
    return closes(() => opened.push('closed'))
  })
  await expect(Promise.all([lazy.get(), lazy.get()])).rejects.toThrow('not yet')
  expect(await lazy.get()).toBe(await lazy.get())
  await Promise.all([lazy.close(), lazy.close()])
  expect(opened).toEqual(['opened', 'opened', 'closed'])
  await expect(lazy.get()).rejects.toThrow('the server is ending')
})

test('one that is closed while it is being opened ends all the same; one that nobody needed is never opened', async () => {
  const opening = Promise.withResolvers<Backend>()
  let closed = 0
  const lazy = new LazyBackend(() => opening.promise)
  const got = lazy.get()
  const ended = lazy.close()
  opening.resolve(closes(() => (closed += 1)))
  await Promise.all([got, ended])
  expect(closed).toBe(1)
  await new LazyBackend(() => Promise.reject(new Error('never'))).close()
})
