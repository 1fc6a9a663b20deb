import type { CommandSpec } from '@parley/command-line'
import { CODEX_OPTION } from '../../option/codex-option.ts'
import { INSTANCE_OPTIONS } from '../../option/instance-options.ts'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { ENGINE_CHOICES, SANDBOX_CHOICES } from '../../judge-process/plan.ts'
import { TARGET_OPTIONS } from '../../option/target.ts'
import { JSON_OPTION } from '../../option/json-option.ts'
import { WORKER_LOG_OPTION } from '../../option/worker-options.ts'

const SANDBOX_OPTION = {
  sandbox: {
    doc: 'how programs are held: auto takes the strongest that works; none only when you say so',
    value: 'KIND',
    choices: SANDBOX_CHOICES,
  },
} as const
const ENGINE_OPTIONS = {
  engine: {
    doc: 'what drives models: auto has mini, and codex for jobs that ask for it where one is found; codex must be there and takes jobs that do not say; none: only code that is judged as it is',
    value: 'ENGINE',
    choices: ENGINE_CHOICES,
  },
  ...CODEX_OPTION,
  attempts: { doc: 'rounds of writing and testing at most, whatever a job asks for (default 10)', value: 'N' },
} as const
/** For judge and up. */
export const JUDGE_OPTIONS = {
  slots: {
    doc: 'jobs at once (default: one per core, 8 at most), and as many guests: one more of each owner who has none',
    value: 'N',
  },
  name: { doc: 'what the judge is called (default: as its token is named, else host name and process id)', value: 'NAME' },
  ...SANDBOX_OPTION,
  ...ENGINE_OPTIONS,
} as const

/** A judge of its own, and the sandbox by itself. */
export const JUDGE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'judge',
    summary: 'Works on the jobs of a gateway, on any machine',
    more: 'It claims jobs, tests what is handed in or written, and reports.',
    options: {
      ...TARGET_OPTIONS,
      url: { doc: 'the gateway, as http://host:port or ws://host:port (PARLEY_URL)', value: 'URL' },
      ...JUDGE_OPTIONS,
      data: INSTANCE_OPTIONS.data,
      config: INSTANCE_OPTIONS.config,
      ...WORKER_LOG_OPTION,
      ...JSON_OPTION,
    },
    notes: [
      'Compilers are looked for in /usr/local/bin, /usr/bin, /bin and then on PATH; parley doctor shows what is found.',
      'The token comes from --token-file, PARLEY_JUDGE_TOKEN or PARLEY_TOKEN; parley token create --role judge makes one.',
      'SIGTERM or Ctrl-C: it finishes what it has, 20 s at most, and gives the rest back; a second one gives it back at once.',
      'With --json one line is printed when it waits for work: {machine_id, name, url, slots, languages, sandbox}.',
    ],
    run: async (invocation) => (await import('./judge.ts')).judge(invocation),
  },
  {
    name: 'judge list',
    summary: 'Lists the judges that are here: load, languages, sandbox; for admins',
    options: { all: { doc: 'those of the last day that left, too' }, ...JOB_OPTIONS },
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./judges.ts')).judgeList(invocation),
  },
  {
    name: 'judge drain',
    summary: 'Tells a judge to take no more jobs; for admins',
    more: 'It finishes what it holds.',
    options: { undo: { doc: 'lets it take jobs again' }, ...JOB_OPTIONS },
    positionals: [{ name: 'NAME', doc: 'the judge, as judge list names it, or its machine' }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./judges.ts')).judgeDrain(invocation),
  },
  {
    name: 'sandbox run',
    summary: 'Runs one program under limits',
    more: 'The working folder and the program’s own files are readable inside, nothing else of yours.',
    options: {
      'cpu-ms': { doc: 'CPU time of the whole tree (default 10000)', value: 'N' },
      'wall-ms': { doc: 'time by the clock (default twice the CPU time and a second)', value: 'N' },
      'memory-mb': { doc: 'memory of all processes together (default 256)', value: 'N' },
      'output-kb': { doc: 'what it may write to stdout and to stderr, each (default 1024)', value: 'N' },
      processes: { doc: 'processes and threads at once (default 64)', value: 'N' },
      stdin: {
        doc: 'a file as its standard input; - is ours (default: what is piped in, 256 MiB at most; of a terminal nothing)',
        value: 'FILE',
        isFile: true,
      },
      ...SANDBOX_OPTION,
      ...JSON_OPTION,
    },
    rest: 'CMD [ARGS…]',
    notes: [
      'Of the machine, /usr, /bin, /sbin, /lib* and a few settings of /etc are readable inside too, with a passwd that names root and the box’s user; docs/sandbox.md has the list. A judge shows its programs less: /usr and the job alone.',
      'A shim of pyenv or rustup stands for the newest version it has.',
      'Exit code: that of the program; 128 and the signal that ended it; 124 when it went over a limit; 125 when the sandbox failed; 127 when there is no such program.',
      'With --json one line: {status, exit_code, signal, cpu_ms, wall_ms, memory_kb, stdout, stderr, …}; exit code 0 whatever the program did.',
    ],
    run: async (invocation) => (await import('../sandbox/sandbox.ts')).sandboxRun(invocation),
  },
  {
    name: 'sandbox check',
    summary: 'Says what the sandbox enforces here, and what is missing',
    options: { ...SANDBOX_OPTION, ...JSON_OPTION },
    run: async (invocation) => (await import('../sandbox/sandbox.ts')).sandboxCheck(invocation),
  },
  {
    name: 'status-server',
    summary: 'The MCP server that an engine mounts while it works (stdio)',
    more: 'Its tools are status.update, agent.delta and judge.self_test.',
    options: {
      'job-dir': { doc: 'the folder of a job on this machine, instead of a judge (REALMOI_JOB_DIR)', value: 'DIR', isFile: true },
    },
    notes: [
      'It reaches the judge by PARLEY_STATUS_SOCKET, which the judge sets. Without a job it starts too, and every call says what is missing.',
      'It ends when its input does.',
    ],
    run: async (invocation) => (await import('./status-server.ts')).statusServer(invocation),
  },
  {
    name: 'agent-server',
    summary: 'The MCP server of an agent’s mounts, for its engine in a box (stdio)',
    more: 'It reaches the host by PARLEY_AGENT_SOCKET, which the host sets. It ends when its input does.',
    options: {},
    run: async (invocation) => (await import('./status-server.ts')).agentServer(invocation),
  },
]
