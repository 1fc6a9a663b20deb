import type { CommandSpec } from '@parley/command-line'
import { CHAT_OPTIONS } from '@parley/shell'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { AGENT } from './agent-argument.ts'

/** What people and agents say to each other. */
export const CHAT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'agent chat',
    summary: 'Shows what people and an agent say, as it comes; each line you write is said',
    more: 'At a terminal also what a local agent does, and calls that wait for approval, answered by a word.',
    options: { ...CHAT_OPTIONS, ...JOB_OPTIONS },
    positionals: [AGENT],
    notes: [
      'At a terminal: Ctrl-D or /q ends when all is said that was written, Ctrl-C at once (130).',
      'Words: /a approve, /s for the session, /r as a rule, /d deny, /x deny and abort, /n next.',
      'Without a terminal each line of stdin is a message, and nothing is decided; the end of stdin ends it when all that was said is told. With --json each line is {"message": …} or {"approval": …}.',
      WHERE_NOTE,
    ],
    run: async (invocation) => (await import('./chats.ts')).agentChat(invocation),
  },
  {
    name: 'agent say',
    summary: 'Says one thing to an agent in its chat, and ends',
    options: {
      key: { doc: 'a name for this message: said again under the same name, it is said once', value: 'KEY' },
      ...JOB_OPTIONS,
    },
    positionals: [AGENT, { name: 'TEXT', doc: 'what to say, in Markdown; - is stdin', optional: true }],
    rest: 'TEXT',
    notes: ['A text that begins with - goes after --: parley agent say NAME -- "-1 or 1?"', WHERE_NOTE],
    run: async (invocation) => (await import('./chats.ts')).agentSay(invocation),
  },
]
