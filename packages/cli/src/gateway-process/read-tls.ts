import { CommandError, usageError } from '../command-line/command-error.ts'
import { readGivenText } from '../command-line/given-file.ts'

/** More than this is no certificate, with all that vouch for it. */
const PEM_BYTES = 1024 * 1024

/** Certificate and key, when both are named. */
export function readTls(
  { tlsCert, tlsKey }: { readonly tlsCert: string | undefined; readonly tlsKey: string | undefined },
  cwd: string,
): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw usageError('--tls-cert and --tls-key go together')
  return { cert: read('--tls-cert', tlsCert, cwd), key: read('--tls-key', tlsKey, cwd) }
}

/** The paths may come from the settings as well: their code says what is wrong, not that the command line is. */
function read(what: string, file: string, cwd: string): string {
  try {
    return readGivenText({ what, file, cwd }, PEM_BYTES)
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause
    const hint = cause.hint === undefined ? {} : { hint: cause.hint }
    throw new CommandError('tls_unreadable', cause.message, { ...hint, cause })
  }
}
