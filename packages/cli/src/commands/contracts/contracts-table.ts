import type { CommandSpec } from '@parley/command-line'
import { JSON_OPTION } from '../../option/json-option.ts'

const METHOD = { name: 'METHOD', doc: 'the method or notification, as contracts list names it' }
const VERSION_OPTION = { 'codex-version': { doc: 'the version of Codex, as in 0.44.0', value: 'V' } } as const
const CODEX_OPTION = {
  codex: {
    doc: 'the Codex, by its path or its name on PATH',
    value: 'PATH',
    isFile: true,
    whenEmpty: 'is there no codex on PATH?',
  },
} as const
const PRIVATE_NOTE =
  'It runs in a private CODEX_HOME with a model on this machine alone: nothing of yours is read, and nothing is sent out.'

/** What Codex's methods promise, what its versions do, and which of them a server is. */
export const CONTRACTS_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'contracts list',
    summary: 'Lists the methods of Codex, and which versions have them',
    more: 'The methods and notifications of its app-server.',
    options: JSON_OPTION,
    run: async (invocation) => (await import('./contracts.ts')).contractsList(invocation),
  },
  {
    name: 'contracts show',
    summary: 'Shows the contract of one method',
    more: 'What is declared, what is observed, and where the two part.',
    options: { ...VERSION_OPTION, ...JSON_OPTION },
    positionals: [METHOD],
    notes: ['Without a version it shows what is declared, and the differences of all versions.'],
    run: async (invocation) => (await import('./contracts.ts')).contractsShow(invocation),
  },
  {
    name: 'contracts diff',
    summary: 'Says what changed between two recorded versions of Codex',
    options: JSON_OPTION,
    positionals: [
      { name: 'FROM', doc: 'a version of Codex' },
      { name: 'TO', doc: 'another one' },
    ],
    run: async (invocation) => (await import('./contracts.ts')).contractsDiff(invocation),
  },
  {
    name: 'contracts explain',
    summary: 'Says what becomes of a request on a version of Codex',
    more: 'It is accepted, translated or refused.',
    options: {
      ...VERSION_OPTION,
      method: { doc: 'the method, when the file holds its params alone', value: 'METHOD' },
      ...JSON_OPTION,
    },
    positionals: [{ name: 'FILE', doc: 'the request as JSON; - or nothing is stdin', isFile: true, optional: true }],
    notes: [
      'Translated is what parley app-server and parley mcp-server do; a client that speaks to Codex itself has to do it on its own.',
      'The answer to an approval is explained too: --method execCommandApproval and {"decision":"allow"}.',
      'Exit code: 0 accepted or translated, 1 refused, 2 when the request cannot be read.',
    ],
    run: async (invocation) => (await import('./contracts-explain.ts')).contractsExplain(invocation),
  },
  {
    name: 'contracts check',
    summary: 'Compares a Codex, or another server, with the recordings',
    more: 'It calls every method and says what is not as it was recorded of that version.',
    options: {
      ...CODEX_OPTION,
      command: { doc: 'another server instead, as one line: its command and arguments', value: 'LINE' },
      'codex-version': { doc: 'the version it is taken for (default: what codex --version says)', value: 'V' },
      exact: { doc: 'another server too must be the same in every word, and not just compatible' },
      dialect: { doc: 'the recorded version it is compared with (default: that of its version)', value: 'V' },
      ...JSON_OPTION,
    },
    notes: [
      PRIVATE_NOTE,
      'Another server may say more in its errors, answer where Codex was silent, and take more than Codex does; --exact allows none of it.',
      'Exit code: 0 when it is as recorded, 1 when something differs, 2 when the command line is wrong.',
      "Our own server: parley contracts check --command 'parley app-server --dialect 0.44' --dialect 0.44.0",
    ],
    run: async (invocation) => (await import('./contracts-check.ts')).contractsCheck(invocation),
  },
  {
    name: 'contracts record',
    summary: 'Records the scenarios of the contracts from a real Codex',
    more: 'One file each.',
    options: {
      ...CODEX_OPTION,
      out: { doc: 'the folder that gets the recordings', value: 'DIR', isFile: true },
      scenario: { doc: 'only this one; may be given again', value: 'NAME', repeats: true },
      'codex-version': { doc: 'the version it is taken for (default: what codex --version says)', value: 'V' },
      ...JSON_OPTION,
    },
    notes: [PRIVATE_NOTE],
    run: async (invocation) => (await import('./contracts-check.ts')).contractsRecord(invocation),
  },
  {
    name: 'contracts new',
    summary: 'Begins the contract of a method: a schema and a test',
    more: 'The test fails until both are filled in.',
    options: {
      out: { doc: 'the folder that gets the two files (default contracts)', value: 'DIR', isFile: true },
      ...JSON_OPTION,
    },
    positionals: [{ name: 'METHOD', doc: 'the name of the method: thread/start' }],
    run: async (invocation) => (await import('./contracts.ts')).contractsNew(invocation),
  },
]
