import { readFileSync } from 'node:fs'
import { CommandError, usageError } from '../command-line/command-error.ts'

/** Certificate and key, when both are named. */
export function readTls({
  tlsCert,
  tlsKey,
}: {
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
}): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw usageError('--tls-cert and --tls-key go together')
  return { cert: read(tlsCert, '--tls-cert'), key: read(tlsKey, '--tls-key') }
}

function read(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CommandError(
      'tls_unreadable',
      `${flag} ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  }
}
