import { CommandError } from '@parley/command-line'

/** What the system says when it does not let us listen, in words that name the way out. */
export function listenFailure(error: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error) || error.syscall !== 'listen') return error
  const failures: Readonly<Record<string, [code: string, message: string, hint: string]>> = {
    EADDRINUSE: [
      'port_taken',
      `port ${port} on ${host} is taken`,
      'choose another with --port, or let the system choose with --port 0',
    ],
    EACCES: ['port_forbidden', `port ${port} may not be used by this user`, 'choose one from 1024 on with --port'],
    EADDRNOTAVAIL: ['host_unknown', `${host} is no address of this machine`, 'choose another with --host'],
    ENOTFOUND: ['host_unknown', `${host} is no address of this machine`, 'choose another with --host'],
  }
  const known = failures[String(error.code)]
  return known === undefined ? error : new CommandError(known[0], known[1], { hint: known[2], cause: error })
}
