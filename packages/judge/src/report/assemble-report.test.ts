import type { RunOutcome } from '@parley/sandbox'
import { expect, test } from 'vitest'
import { compileResult } from '../compile/compile-result.ts'
import { specOf } from '../fixture/open-bench.ts'
import { type ReportParts, assembleReport } from './assemble-report.ts'

const NOTHING: ReportParts = {
  request: {
    spec: specOf({ language: 'cpp', code: 'x' }, 'job_1'),
    code: 'x',
    inputFolder: '/nowhere',
    attempt: 1,
    claim: 1,
    judgeName: 'j',
  },
  languageVersion: null,
  cppStandard: null,
  sandbox: { driver: 'none', tier: '', enforced: {}, missing: [] },
  discovery: null,
  compile: null,
  results: [],
  isCancelled: false,
  error: null,
}

test('a solution that nothing was done with has not succeeded, whatever the reason', () => {
  expect(assembleReport(NOTHING)).toMatchObject({ status: 'failed', error: { code: 'judge_error' } })
  expect(assembleReport({ ...NOTHING, isCancelled: true })).toMatchObject({ status: 'cancelled' })
})

/** A driver of which a part was killed: it says so and ends with a code of its own. */
const DRIVER: RunOutcome = {
  status: 'nonzero',
  exitCode: 1,
  signal: null,
  cpuMs: 1,
  wallMs: 1,
  starvedMs: null,
  memoryBytes: 1,
  stdout: { bytes: new Uint8Array(), totalBytes: 0 },
  stderr: { bytes: Buffer.from('g++: fatal error: Killed signal terminated program cc1plus\n'), totalBytes: 59 },
  kept: [],
  message: null,
}

test.each([
  ['nonzero', 'g++: fatal error: Killed signal terminated program cc1plus', 1],
  [
    'memory-limit',
    'compiling took more than 1024 MiB of memory: g++: fatal error: Killed signal terminated program cc1plus',
    null,
  ],
  [
    'cpu-limit',
    'compiling took more than 30 s of processor time: g++: fatal error: Killed signal terminated program cc1plus',
    null,
  ],
  ['process-limit', 'compiling started more than 64 processes: g++: fatal error: Killed signal terminated program cc1plus', null],
] as const)('a compiler that ended by itself as %s: the box’s account comes first', (status, message, exitCode) => {
  const compile = compileResult(['g++'], { ...DRIVER, status }, { memoryBytes: 1024 ** 3, leftProgram: false })
  expect(compile.exit_code).toBe(exitCode)
  expect(assembleReport({ ...NOTHING, compile })).toMatchObject({
    error: { code: 'compile_error', message },
    summary: { first_failure_verdict: 'CE', first_failure_message: message },
  })
})
