import { constants } from 'node:os'
import { type CaseItem, type CaseResult, JOB_LIMITS, type TestCase } from '@parley/protocol'
import type { RunOutcome, RunOutput } from '@parley/sandbox'
import type { Finding } from './finding.ts'

/** What the streams of all cases together may take in a report, so that it stays an artifact one can hand over. */
const REPORT_STREAMS_BYTES = 3 * 1024 * 1024
const NOTHING: RunOutput = { bytes: new Uint8Array(), totalBytes: 0 }

/** How much of each stream of a case is kept: all cases get the same, and a few get as much as is allowed. */
export function streamBytes(cases: number): number {
  return Math.min(JOB_LIMITS.reportStreamBytes, Math.floor(REPORT_STREAMS_BYTES / Math.max(1, cases * 2)))
}

/** One case as the report tells it. */
export function caseResult(testCase: TestCase, finding: Finding, keptBytes: number): CaseResult {
  const { name, group, input_rel, expected_rel, expected_present, hidden, points } = testCase
  const { verdict, outcome, diff, message, reruns, score } = finding
  const stdout = outcome?.stdout ?? NOTHING
  const stderr = outcome?.stderr ?? NOTHING
  return {
    name,
    group,
    input_rel,
    expected_rel,
    expected_present,
    hidden,
    verdict,
    exit_code: outcome === null ? null : exitCodeOf(outcome),
    signal: outcome?.signal ?? null,
    timeout: verdict === 'TLE' || verdict === 'ILE',
    output_limit_exceeded: verdict === 'OLE',
    time_ms: rounded(outcome?.cpuMs ?? 0),
    wall_ms: rounded(outcome?.wallMs ?? 0),
    memory_kb: Math.ceil((outcome?.memoryBytes ?? 0) / 1024),
    stdout_b64: base64(stdout.bytes.subarray(0, keptBytes)),
    stderr_b64: base64(stderr.bytes.subarray(0, keptBytes)),
    stdout_truncated: stdout.totalBytes > Math.min(keptBytes, stdout.bytes.length),
    stderr_truncated: stderr.totalBytes > Math.min(keptBytes, stderr.bytes.length),
    diff,
    message,
    points,
    score: points * score,
    reruns,
  }
}

/** The same case as it goes out as soon as it is done, without its streams. */
export function caseItem(
  result: CaseResult,
  place: { readonly claim: number; readonly attempt: number; readonly index: number; readonly total: number },
): CaseItem {
  const { stdout_b64: _stdout, stderr_b64: _stderr, ...rest } = result
  return { ...rest, ...place }
}

/** As programs that read reports know it: a signal is its number below zero, and its name stands beside it. */
function exitCodeOf({ exitCode, signal }: RunOutcome): number | null {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1]
  return number === undefined ? exitCode : -number
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
