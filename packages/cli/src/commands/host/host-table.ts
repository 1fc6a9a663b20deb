import type { CommandSpec } from '@parley/command-line'
import { CODEX_OPTION } from '../../option/codex-option.ts'
import { INSTANCE_OPTIONS } from '../../option/instance-options.ts'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { JSON_OPTION } from '../../option/json-option.ts'
import { TARGET_OPTIONS } from '../../option/target.ts'
import { WORKER_LOG_OPTION } from '../../option/worker-options.ts'

/** For host and up. */
export const HOST_OPTIONS = {
  root: {
    doc: 'a folder that agents and mounts may be given, with all below it, where it is granted too; may be repeated; without any, none',
    value: 'DIR',
    isFile: true,
    repeats: true,
  },
} as const

/** A host of its own, and those of a gateway. */
export const HOST_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'host',
    summary: 'Runs agents for a gateway, on any machine',
    more: 'It holds the agents that are awake, starts or dials what is mounted for them, and answers what local ones are told.',
    options: {
      ...TARGET_OPTIONS,
      url: { doc: 'the gateway, as http://host:port or https://… (PARLEY_URL)', value: 'URL' },
      name: { doc: 'what it is called there (default: as its token is named)', value: 'NAME' },
      slots: { doc: 'agents at once (default 256)', value: 'N' },
      ...HOST_OPTIONS,
      ...CODEX_OPTION,
      label: { doc: 'what is said of it; may be repeated', value: 'KEY=VALUE', repeats: true },
      data: INSTANCE_OPTIONS.data,
      config: INSTANCE_OPTIONS.config,
      ...WORKER_LOG_OPTION,
      ...JSON_OPTION,
    },
    notes: [
      'The token comes from --token-file, PARLEY_HOST_TOKEN or PARLEY_TOKEN; parley token create --role host makes one.',
      'Each agent has a folder of its own, DATA/agents/ID. [sandbox] read shows more of this machine to boxed programs.',
      'SIGTERM or Ctrl-C: its agents go to other hosts at once. With --json one line when it takes part: {name, url, slots}.',
    ],
    run: async (invocation) => (await import('./host.ts')).host(invocation),
  },
  {
    name: 'host list',
    summary: 'Lists the hosts that are here, and what each holds; for admins',
    options: { all: { doc: 'those of the last day that left, too' }, ...JOB_OPTIONS },
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('../executor/workers.ts')).workerList('host', invocation),
  },
  {
    name: 'host drain',
    summary: 'Tells a host to give its agents back; for admins',
    more: 'Other hosts take them.',
    options: { undo: { doc: 'lets it take agents again' }, ...JOB_OPTIONS },
    positionals: [{ name: 'NAME', doc: 'the host, as host list names it' }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('../executor/workers.ts')).workerDrain('host', invocation),
  },
]
