import { expect, test } from 'vitest'
import { restText, wakeText } from './wake.ts'

const RULES = { chat: true, resources: true, calls: true, every_s: 10 }
const NONE = { wake_on: null, resources: null, until: null, say: null }
const at = (text: string): string => `at ${text}`

test('rules are told in words', () => {
  expect(wakeText(RULES)).toBe('chat, resources at most every 10 s, calls that end')
  expect(wakeText({ ...RULES, chat: false, calls: false })).toBe('resources at most every 10 s')
  expect(wakeText({ ...RULES, chat: false, resources: false, calls: false })).toBe('nothing but prompts and timers of its own')
})

test('for what an agent rests is told in words, and its own are made harmless', () => {
  expect(restText(NONE, at)).toBe('yielded, and waits for what may wake it')
  expect(restText({ ...NONE, wake_on: [] }, at)).toBe('yielded, and rests until it is told something')
  const all = {
    wake_on: ['chat', 'resources'] as ('chat' | 'resources')[],
    resources: ['a:\u001b[31m'],
    until: 'noon',
    say: null,
  }
  expect(restText(all, at)).toMatch(/^yielded, and waits for chat, resources; of resources only a:.*; at noon at the latest$/)
  expect(restText(all, at)).not.toContain('\u001b')
})
