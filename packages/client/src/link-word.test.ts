import { WireError } from '@parley/rpc'
import { expect, test } from 'vitest'
import { LINK_MOVES, type LinkWord, logLine } from './link-word.ts'

const why = new WireError('unreachable', 'nobody is there')
const waiting = { kind: 'waiting', why, againMs: 100, isRefused: false, refusals: 0 } as const

test.each<[LinkWord, string | undefined]>([
  [{ kind: 'connecting', failures: 0 }, undefined],
  [{ kind: 'live', isFirst: true }, 'debug: judge-1 is connected to the gateway'],
  [{ kind: 'live', isFirst: false }, 'info: judge-1 is connected to the gateway again'],
  [{ kind: 'lost', why, wasLive: true }, 'info: judge-1 lost the gateway: nobody is there'],
  [{ kind: 'lost', why, wasLive: false }, undefined],
  [{ ...waiting, failures: 0 }, undefined],
  [{ ...waiting, failures: 1 }, 'warn: judge-1 does not reach the gateway: nobody is there; trying on'],
  [{ ...waiting, failures: 2 }, undefined],
  [
    { ...waiting, failures: 2, isRefused: true, refusals: 1 },
    'warn: judge-1 does not reach the gateway: nobody is there; trying on',
  ],
  [{ ...waiting, failures: 3, isRefused: true, refusals: 2 }, undefined],
  [{ kind: 'asked-again', tool: 'job.wait', why, times: 2 }, 'warn: judge-1 has to ask job.wait again: nobody is there'],
  [{ kind: 'ended', wasLive: true }, undefined],
  [{ kind: 'ended', why, wasLive: false }, undefined],
  [{ kind: 'ended', why, wasLive: true }, 'error: judge-1 gives the gateway up: nobody is there'],
])('%j', (word, line) => {
  const said = logLine('judge-1', word)
  expect(said === undefined ? undefined : `${said.level}: ${said.message}`).toBe(line)
})

test('nothing leads back from the end', () => expect(LINK_MOVES.ended).toEqual([]))
