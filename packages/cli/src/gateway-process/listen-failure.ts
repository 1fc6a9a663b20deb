import { CommandError } from '@parley/command-line'

/** What the system says when it does not let us listen, in words. The way out differs by command. */
export function listenFailure(error: unknown, { host, port }: { readonly host: string; readonly port: number }): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error) || error.syscall !== 'listen') return error
  const failures: Readonly<Record<string, [code: string, message: string]>> = {
    EADDRINUSE: ['port_taken', `port ${port} on ${host} is taken`],
    EACCES: ['port_forbidden', `port ${port} may not be used by this user`],
    EADDRNOTAVAIL: ['host_unknown', `${host} is no address of this machine`],
    ENOTFOUND: ['host_unknown', `${host} is no address of this machine`],
  }
  const known = failures[String(error.code)]
  return known === undefined ? error : new CommandError(known[0], known[1], { cause: error })
}
