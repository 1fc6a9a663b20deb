import type { CommandSpec, Invocation } from '@parley/command-line'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'

type Job = typeof import('./job.ts')
const inJob =
  (choose: (commands: Job) => (invocation: Invocation) => Promise<number>) =>
  async (invocation: Invocation): Promise<number> =>
    choose(await import('./job.ts'))(invocation)

const ID = { name: 'JOB', doc: 'its id, the first 4 characters of it or more, or @last: your newest' }
const WATCH = { watch: { doc: 'shows it until it ends; Ctrl-C or SIGTERM then cancels the job' } } as const
const EXIT_NOTE = 'Exit code: 0 succeeded, 1 failed, 3 not judged (no tests, or tests without answers), 130 cancelled.'

/**
 * The same words as in `protocol`, written out: loading its schemas takes longer than most commands do, and every command
 * loads this table. A test compares them.
 */
export const JOB_WORDS = {
  languages: ['cpp', 'cpp17', 'cpp20', 'cpp23', 'c', 'python', 'javascript', 'typescript', 'java', 'rust', 'go'],
  statuses: ['created', 'queued', 'running_generate', 'running_test', 'succeeded', 'failed', 'cancelled'],
  compareModes: ['tokens', 'trim_ws', 'exact', 'lines', 'unordered_lines', 'floats'],
  timeMs: 2_000,
  memoryMb: 1_024,
} as const

/** Jobs from the shell. */
export const JOB_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'job submit',
    summary: 'Hands in code to be judged, or a problem for a model',
    options: {
      statement: { doc: 'the problem, as Markdown; - is stdin', value: 'FILE', isFile: true },
      tests: { doc: 'the tests: a zip, or a folder that is zipped for you', value: 'ZIP', isFile: true },
      code: { doc: 'the code to judge, or to begin with', value: 'FILE', isFile: true },
      language: { doc: 'its language (default: by the name of the file)', value: 'LANGUAGE', choices: JOB_WORDS.languages },
      'judge-only': { doc: 'judges --code as it is' },
      model: { doc: 'the model that writes the solution (default: the only one there is)', value: 'MODEL' },
      channel: { doc: 'the channel to reach it by (default: the first that has it)', value: 'CHANNEL' },
      engine: {
        doc: 'what drives the model (default: what the judge takes for such jobs, mini as a rule)',
        value: 'ENGINE',
        choices: ['mini', 'codex'],
      },
      attempts: { doc: 'rounds of writing and testing at most, 1 to 10 (default 3)', value: 'N' },
      'budget-tokens': { doc: 'tokens that the model may use for this job', value: 'N' },
      'budget-usd': { doc: 'dollars that it may cost: 0.50', value: 'USD' },
      title: { doc: 'what the job is called in lists', value: 'TEXT' },
      'time-ms': { doc: `CPU time of each case (default ${JOB_WORDS.timeMs})`, value: 'N' },
      'memory-mb': { doc: `memory of each case (default ${JOB_WORDS.memoryMb})`, value: 'N' },
      checker: {
        doc: "how answers are compared, by name, or the path of a checker's source; default tokens",
        value: 'CHECKER',
        choices: JOB_WORDS.compareModes,
        isFile: true,
      },
      interactor: { doc: 'a program that talks with the solution', value: 'FILE', isFile: true },
      sample: { doc: 'names of cases that the agent may see, separated by commas', value: 'NAMES' },
      ...WATCH,
      detach: { doc: 'with --json: returns at once and not at the end' },
      ...JOB_OPTIONS,
    },
    notes: [
      WHERE_NOTE,
      'With --statement a model writes the solution, and repairs --code if there is some. --code alone, or with --judge-only, is judged as it is.',
      `With --json it waits for the end; the last line is {job_id, status, report}. ${EXIT_NOTE}`,
      'Ctrl-C or SIGTERM while it is shown cancels the job; once more leaves it to itself. job watch leaves it running.',
    ],
    run: inJob(({ jobSubmit }) => jobSubmit),
  },
  {
    name: 'job list',
    summary: 'Lists jobs, newest first',
    options: {
      status: { doc: 'only those in this state', value: 'STATUS', choices: JOB_WORDS.statuses },
      limit: { doc: 'at most so many (default 50)', value: 'N' },
      ...JOB_OPTIONS,
    },
    run: inJob(({ jobList }) => jobList),
  },
  {
    name: 'job show',
    summary: 'Shows what became of a job so far, with its verdicts',
    options: JOB_OPTIONS,
    positionals: [ID],
    notes: [EXIT_NOTE.replace('130 cancelled.', '130 cancelled; 0 while it has not ended.')],
    run: inJob(({ jobShow }) => jobShow),
  },
  {
    name: 'job watch',
    summary: 'Shows a job until it ends',
    more: 'Ctrl-C or SIGTERM ends the watching with exit code 130, and leaves the job running.',
    options: JOB_OPTIONS,
    positionals: [ID],
    notes: [EXIT_NOTE.replace('130 cancelled.', '130 cancelled, or no longer watched.')],
    run: inJob(({ jobWatch }) => jobWatch),
  },
  {
    name: 'job cancel',
    summary: 'Ends a job in whatever state it is',
    options: JOB_OPTIONS,
    positionals: [ID],
    run: inJob(({ jobCancel }) => jobCancel),
  },
  {
    name: 'job artifacts',
    summary: 'Lists, prints or writes out what a job produced',
    options: { out: { doc: 'a folder to write them to', value: 'DIR', isFile: true }, ...JOB_OPTIONS },
    positionals: [ID, { name: 'NAME', doc: 'one to print: main.cpp, report.json, …', optional: true }],
    run: async (invocation) => (await import('./job-files.ts')).jobArtifacts(invocation),
  },
  {
    name: 'job input',
    summary: 'Lists, prints or writes out what was handed in',
    more: 'The statement, the code, checkers and all tests, hidden ones too, as their owner handed them in.',
    options: { out: { doc: 'a folder to write them to', value: 'DIR', isFile: true }, ...JOB_OPTIONS },
    positionals: [ID, { name: 'NAME', doc: 'one to print: statement.md, tests/1.in, …', optional: true }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./job-files.ts')).jobInput(invocation),
  },
  {
    name: 'job retry',
    summary: 'Starts a new job from the inputs of one that ended',
    options: { ...WATCH, detach: { doc: 'with --json: returns at once and not at the end' }, ...JOB_OPTIONS },
    positionals: [ID],
    run: inJob(({ jobRetry }) => jobRetry),
  },
  {
    name: 'job delete',
    summary: 'Removes a job that is not at work, with all that is its own',
    options: JOB_OPTIONS,
    positionals: [ID],
    run: inJob(({ jobDelete }) => jobDelete),
  },
]
