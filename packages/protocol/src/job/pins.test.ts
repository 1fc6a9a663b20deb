// The words of jobs that programs outside hold on to. Written out on purpose: a change here is a change for everybody.
import { expect, test } from 'vitest'
import {
  AgentStage,
  CompareMode,
  END_STATUSES,
  JobLogName,
  JobStatus,
  JobStream,
  JudgeAction,
  Language,
  STATUS_BEFORE,
  Verdict,
  isEnd,
  languageOfFile,
  mainFile,
} from '../index.ts'

test('the states of a job, and which may follow which', () => {
  expect(JobStatus.options).toEqual(['created', 'queued', 'running_generate', 'running_test', 'succeeded', 'failed', 'cancelled'])
  expect(END_STATUSES).toEqual(['succeeded', 'failed', 'cancelled'])
  expect(STATUS_BEFORE).toEqual({
    created: [],
    queued: ['created', 'queued', 'running_generate', 'running_test'],
    running_generate: ['queued', 'running_generate', 'running_test'],
    running_test: ['queued', 'running_generate', 'running_test'],
    succeeded: ['running_generate', 'running_test'],
    failed: ['queued', 'running_generate', 'running_test'],
    cancelled: ['created', 'queued', 'running_generate', 'running_test'],
  })
})

test('nothing follows an end', () => {
  for (const before of Object.values(STATUS_BEFORE)) for (const status of before) expect(isEnd(status)).toBe(false)
})

test('verdicts, ways to compare, streams, stages, actions', () => {
  expect(Verdict.options).toEqual(['AC', 'WA', 'PE', 'RE', 'TLE', 'ILE', 'MLE', 'OLE', 'CE', 'SE', 'RUN', 'SKIP', 'CANCELLED'])
  expect(CompareMode.options).toEqual([
    'tokens',
    'trim_ws',
    'exact',
    'lines',
    'unordered_lines',
    'floats',
    'checker',
    'interactive',
  ])
  expect(JobStream.options).toEqual(['agent_status', 'terminal', 'cases', 'state'])
  expect(JobLogName.options).toEqual(['agent_status', 'terminal', 'cases'])
  expect(AgentStage.options).toEqual(['analysis', 'plan', 'search', 'coding', 'test', 'repair', 'done', 'error'])
  expect(JudgeAction.options).toEqual(['continue', 'cancel'])
})

test.each([
  ['cpp', 'main.cpp'],
  ['cpp17', 'main.cpp'],
  ['cpp20', 'main.cpp'],
  ['cpp23', 'main.cpp'],
  ['c', 'main.c'],
  ['python', 'main.py'],
  ['javascript', 'main.js'],
  ['typescript', 'main.ts'],
  ['java', 'main.java'],
  ['rust', 'main.rs'],
  ['go', 'main.go'],
] as const)('%s is handed over as %s', (language, file) => {
  expect(mainFile(language)).toBe(file)
  expect(Language.options).toContain(language)
})

test.each([
  ['a.cpp', 'cpp'],
  ['b.CC', 'cpp'],
  ['dir.py/c.py', 'python'],
  ['x.mjs', 'javascript'],
  ['noextension', undefined],
  ['a.txt', undefined],
])('the name %s suggests %s', (name, language) => {
  expect(languageOfFile(name)).toBe(language)
})
