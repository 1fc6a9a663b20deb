import { expect, test } from 'vitest'
import type { LinkState } from './page-link.ts'
import { linkWords } from './link-words.ts'

test.each<[LinkState, string]>([
  [{ kind: 'connecting' }, 'connecting…'],
  [{ kind: 'live' }, 'live'],
  [{ kind: 'lost' }, 'connection lost'],
  [{ kind: 'lost', next: { isAnswering: true, againMs: 500 } }, 'connection lost; trying again now'],
  [{ kind: 'lost', next: { isAnswering: false, againMs: 4_000 } }, 'the gateway does not answer; trying again in 4 s'],
])('%j', (state, words) => expect(linkWords(state)).toBe(words))
