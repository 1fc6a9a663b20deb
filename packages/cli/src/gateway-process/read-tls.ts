import { usageError } from '../command-line/command-error.ts'
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
  return {
    cert: readGivenText({ what: '--tls-cert', file: tlsCert, cwd }, PEM_BYTES),
    key: readGivenText({ what: '--tls-key', file: tlsKey, cwd }, PEM_BYTES),
  }
}
