import type { CompileResult } from '@parley/protocol'
import type { RunOutcome } from '@parley/sandbox'
import { COMPILE_LIMITS } from './compile-limits.ts'

const MIB = 1024 * 1024

/** What the compiler did, for the report. `leftProgram` is whether what it made could be taken out of the box. */
export function compileResult(
  cmd: string[],
  outcome: RunOutcome,
  { memoryBytes, leftProgram }: { readonly memoryBytes: number; readonly leftProgram: boolean },
): CompileResult {
  const ok = outcome.status === 'ok' && leftProgram
  return {
    cmd,
    ok,
    // Of a compiler that a limit ended there is none: what the box counted tells why, not how its driver took the death of a part.
    exit_code: outcome.status === 'ok' || outcome.status === 'nonzero' ? outcome.exitCode : null,
    stdout_b64: Buffer.from(outcome.stdout.bytes).toString('base64'),
    stderr_b64: Buffer.from(outcome.stderr.bytes).toString('base64'),
    stdout_truncated: outcome.stdout.totalBytes > outcome.stdout.bytes.length,
    stderr_truncated: outcome.stderr.totalBytes > outcome.stderr.bytes.length,
    time_ms: outcome.cpuMs,
    memory_kb: Math.ceil(outcome.memoryBytes / 1024),
    cached: false,
    message: ok ? null : failureMessage(outcome, memoryBytes),
  }
}

function failureMessage({ status, exitCode, signal, message }: RunOutcome, memoryBytes: number): string {
  const { cpuMs, wallMs, outputBytes, processes, programBytes } = COMPILE_LIMITS
  switch (status) {
    case 'ok':
      return `the compiler left no program, or one of more than ${programBytes / MIB} MiB${message === null ? '' : `: ${message}`}`
    case 'nonzero':
      return `the compiler ended with code ${exitCode}`
    case 'signal':
      return `the compiler was ended by ${signal}`
    case 'cpu-limit':
      return `compiling took more than ${cpuMs / 1_000} s of processor time`
    case 'wall-limit':
      return `compiling took more than ${wallMs / 1_000} s`
    case 'memory-limit':
      return `compiling took more than ${memoryBytes / MIB} MiB of memory`
    case 'output-limit':
      return `the compiler wrote more than ${outputBytes / MIB} MiB of messages`
    case 'process-limit':
      return `compiling started more than ${processes} processes`
    case 'sandbox-error':
      return `the sandbox failed: ${message ?? 'no reason given'}`
  }
}

/** Of a source that needs no compiling and was not looked at yet: it is read when it runs. */
export function unreadResult(cmd: string[]): CompileResult {
  return {
    cmd,
    ok: true,
    exit_code: null,
    stdout_b64: '',
    stderr_b64: '',
    stdout_truncated: false,
    stderr_truncated: false,
    time_ms: 0,
    memory_kb: 0,
    cached: false,
    message: 'nothing to compile; the source is read when it runs',
  }
}
