/**
 * The command that does what a tool does. Gateways name tools in their hints, which whoever types commands cannot call. A
 * test holds this against the hints in the gateway's sources.
 */
export const COMMAND_OF: Readonly<Record<string, string>> = {
  'agent.create': 'parley agent create',
  'agent.delete': 'parley agent delete AGENT',
  'agent.list': 'parley agent list',
  'agent.token': 'parley agent token AGENT',
  'audit.export': 'parley audit export',
  'audit.search': 'parley audit search',
  'channel.delete': 'parley channel delete NAME',
  'channel.list': 'parley channel list',
  'channel.set': 'parley channel set NAME',
  'executor.drain': 'parley executor drain NAME',
  'executor.list': 'parley executor list',
  'grant.set': 'parley grant set USER',
  'host.drain': 'parley host drain NAME',
  'host.list': 'parley host list',
  'job.cancel': 'parley job cancel JOB',
  'job.create': 'parley job submit',
  'job.delete': 'parley job delete JOB',
  'job.get_artifacts': 'parley job artifacts JOB',
  'job.get_input': 'parley job input JOB',
  'job.get_state': 'parley job show JOB',
  'job.get_tests': 'parley job input JOB',
  'job.list': 'parley job list',
  'job.retry': 'parley job retry JOB',
  'job.start': 'parley job submit',
  'judge.drain': 'parley judge drain NAME',
  'judge.list': 'parley judge list',
  'models.list': 'parley model list',
  'mount.attach': 'parley mount attach AGENT',
  'mount.detach': 'parley mount detach AGENT',
  'mount.list': 'parley mount list AGENT',
  'mount.sign_in': 'parley mount login AGENT',
  'pricing.delete': 'parley pricing delete MODEL',
  'pricing.list': 'parley pricing list',
  'pricing.set': 'parley pricing set MODEL',
  'token.create': 'parley token create',
  'token.list': 'parley token list',
  'token.revoke': 'parley token revoke ID',
  'usage.summary': 'parley quota show',
  'user.add': 'parley user add NAME',
  'user.delete': 'parley user delete NAME',
  'user.demote': 'parley user demote NAME',
  'user.disable': 'parley user disable NAME',
  'user.enable': 'parley user enable NAME',
  'user.link': 'parley user link NAME',
  'user.list': 'parley user list',
  'user.passwd': 'parley user passwd NAME',
  'user.promote': 'parley user promote NAME',
  'user.set_identity': 'parley user set-identity NAME',
  'user.set_quota': 'parley quota set NAME',
}
const NAMES = Object.keys(COMMAND_OF).map((name) => name.replaceAll('.', String.raw`\.`))
const TOOL = new RegExp(String.raw`(?<![\w.])(?:${NAMES.join('|')})(?![\w-]|\.\w)`, 'g')

/** A hint of a gateway in the words of the shell. The argument that a tool is named with is an option there. */
export const inCommands = (hint: string): string =>
  hint.replaceAll('models.list with live', 'parley model list --live').replaceAll(TOOL, (name) => COMMAND_OF[name] ?? name)
