import type { CommandSpec, Invocation, OptionSpec } from '@parley/command-line'
import { SCOPE_NOTE, SCOPE_OPTION } from '@parley/shell'
import { INSTANCE_OPTIONS } from '../../option/instance-options.ts'
import { TARGET_OPTIONS } from '../../option/target.ts'
import { JSON_OPTION } from '../../option/json-option.ts'

const WHERE = { ...INSTANCE_OPTIONS, ...TARGET_OPTIONS, ...JSON_OPTION } as const satisfies Record<string, OptionSpec>
const NAME = { name: 'NAME', doc: 'the user name' }
const LAST_ADMIN_NOTE = 'The last admin who can sign in stays one.'
const PASSWORD_FILE = {
  'password-file': { doc: 'a file with the password in its first line; - is stdin', value: 'FILE', isFile: true },
} as const

type Account = typeof import('./account.ts')
const inAccount =
  (choose: (commands: Account) => (invocation: Invocation) => Promise<number>) =>
  async (invocation: Invocation): Promise<number> =>
    choose(await import('./account.ts'))(invocation)

const WAY_NOTE = 'Works while a gateway runs on the same data folder, and while none does.'

/** Accounts and tokens. */
export const ACCOUNT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'user add',
    summary: 'Adds an account and prints a one-time sign-in link',
    more: 'With a password there is no link.',
    options: { admin: { doc: 'with all rights' }, 'ask-password': { doc: 'asks for a password' }, ...PASSWORD_FILE, ...WHERE },
    positionals: [NAME],
    notes: [WAY_NOTE],
    run: inAccount(({ userAdd }) => userAdd),
  },
  { name: 'user list', summary: 'Lists the accounts', options: WHERE, run: inAccount(({ userList }) => userList) },
  {
    name: 'user link',
    summary: 'Makes a one-time sign-in link, good for 15 minutes',
    options: WHERE,
    positionals: [NAME],
    run: inAccount(({ userLink }) => userLink),
  },
  {
    name: 'user passwd',
    summary: 'Sets a password; sign-ins and tokens of that user and of their agents end',
    more: 'It is typed at the terminal, or read from stdin or a file. One-time links of that user end, too.',
    options: {
      'keep-tokens': { doc: 'leaves the tokens of that user and of their agents as they are' },
      ...PASSWORD_FILE,
      ...WHERE,
    },
    positionals: [NAME],
    run: inAccount(({ userPasswd }) => userPasswd),
  },
  {
    name: 'user set-identity',
    summary: 'Says whom an identity provider means by a user',
    more: 'The issuer and the subject are iss and sub of its tokens. Only this lets an admin in by such a token.',
    options: {
      issuer: { doc: 'the name of the provider: jwks.issuer of the gateway', value: 'ISSUER' },
      subject: { doc: 'what the provider calls the person', value: 'SUBJECT' },
      remove: { doc: 'nobody any more' },
      ...WHERE,
    },
    positionals: [NAME],
    run: inAccount(({ userSetIdentity }) => userSetIdentity),
  },
  {
    name: 'user disable',
    summary: 'Disables an account: its tokens and sign-ins end',
    more: 'Its connections are cut within a second, and jobs that wait or run are cancelled.',
    options: WHERE,
    positionals: [NAME],
    notes: [LAST_ADMIN_NOTE],
    run: inAccount(({ userDisable }) => userDisable),
  },
  {
    name: 'user enable',
    summary: 'Enables a disabled account again',
    options: WHERE,
    positionals: [NAME],
    run: inAccount(({ userEnable }) => userEnable),
  },
  {
    name: 'user promote',
    summary: 'Makes a user an admin',
    options: WHERE,
    positionals: [NAME],
    run: inAccount(({ userPromote }) => userPromote),
  },
  {
    name: 'user demote',
    summary: 'Makes an admin a user like any other',
    options: WHERE,
    positionals: [NAME],
    notes: [LAST_ADMIN_NOTE],
    run: inAccount(({ userDemote }) => userDemote),
  },
  {
    name: 'user delete',
    summary: 'Deletes an account for good; its jobs are cancelled',
    more: 'Its tokens, sign-ins and quota go, and its connections are cut. Jobs that wait or run are cancelled; those that ended stay, for admins, until they expire. What its calls of models came to stays booked. The name is free again.',
    options: { yes: { doc: 'does it without asking' }, ...WHERE },
    positionals: [NAME],
    notes: [LAST_ADMIN_NOTE, 'user disable keeps the account, and can be undone.'],
    run: inAccount(({ userDelete }) => userDelete),
  },
  {
    name: 'token create',
    summary: 'Makes a token and shows it, this once',
    options: {
      role: { doc: 'whose token it is', value: 'ROLE', choices: ['user', 'judge', 'host', 'executor', 'agent'] },
      user: { doc: 'for --role user: the user name', value: 'NAME' },
      name: { doc: 'what it is called in lists; for --role judge, host and executor: the name of the worker', value: 'NAME' },
      ...SCOPE_OPTION,
      agent: { doc: 'for --role agent: the id of the agent', value: 'ID' },
      ttl: { doc: 'how long it is good: 90s, 30m, 12h, 7d (default: until revoked)', value: 'TIME' },
      out: { doc: 'a new file for it, which only you can read, instead of stdout', value: 'FILE', isFile: true },
      ...WHERE,
    },
    notes: [
      'Only the token goes to stdout. With --json it prints {token, id, role, expires_at} on one line, with --out {file, id, role, expires_at}; with --scope also scopes.',
      SCOPE_NOTE,
      WAY_NOTE,
    ],
    run: inAccount(({ tokenCreate }) => tokenCreate),
  },
  {
    name: 'token list',
    summary: 'Lists the tokens, without their texts',
    options: WHERE,
    run: inAccount(({ tokenList }) => tokenList),
  },
  {
    name: 'token revoke',
    summary: 'Ends a token; its connections are cut within a second',
    more: 'A token with scopes takes those along that were made with it: token list shows by which token each was made.',
    options: WHERE,
    positionals: [{ name: 'ID', doc: 'its id, or the first 4 characters of it or more' }],
    run: inAccount(({ tokenRevoke }) => tokenRevoke),
  },
]
