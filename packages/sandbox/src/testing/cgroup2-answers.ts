/** What `cgroup2-main.ts` must print on any machine whose cgroup 2 holds memory and processes, whatever boots that machine. */
export const CGROUP2_ANSWERS = {
  tier: 'namespaces+cgroup2',
  missing: [],
  plain: { status: 'ok', text: '7\n' },
  held: { status: 'ok', text: 'held\n' },
  hog: 'memory-limit',
  children: 'memory-limit',
  freed: 'memory-limit',
  tooMany: 'process-limit',
  unwaited: 'cpu-limit',
  after: 'ok',
  while: 'memory pids',
  closed: [],
} as const

const MARK = 'answers: '

/** One line of a console that may hold much else. */
export function writeAnswers(answers: unknown): string {
  return `\n${MARK}${JSON.stringify(answers)}\n`
}

/** The answers in what a console showed; throws with all of that where there are none. */
export function readAnswers(said: string): unknown {
  const line = said.split('\n').find((text) => text.startsWith(MARK))
  if (line === undefined) throw new Error(`the machine gave no answers: ${said}`)
  return JSON.parse(line.slice(MARK.length))
}
