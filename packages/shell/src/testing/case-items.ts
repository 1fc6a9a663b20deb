import type { CaseItem } from '@parley/protocol'

type ScriptedCase = Pick<CaseItem, 'name' | 'verdict'> & { readonly message?: string }

/** Cases as a judge tells of them, by what they are called and how they ended. */
export function caseItems({
  cases = [],
}: {
  readonly cases?: readonly ScriptedCase[]
}): Omit<CaseItem, 'index' | 'total' | 'claim' | 'attempt'>[] {
  return cases.map(({ name, verdict, message = null }) => ({
    name,
    group: 'default',
    input_rel: '',
    expected_rel: null,
    expected_present: true,
    hidden: false,
    verdict,
    exit_code: 0,
    signal: null,
    timeout: false,
    output_limit_exceeded: false,
    time_ms: 12,
    wall_ms: 12,
    memory_kb: 2048,
    stdout_truncated: false,
    stderr_truncated: false,
    diff: null,
    message,
    points: 1,
    score: verdict === 'AC' ? 1 : 0,
    reruns: 0,
  }))
}
