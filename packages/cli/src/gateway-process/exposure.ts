import { CommandError } from '@parley/command-line'

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Tokens in plain text must not leave the machine by accident. */
export function checkExposure({
  host,
  hasTls,
  insecure,
}: {
  readonly host: string
  readonly hasTls: boolean
  readonly insecure: boolean
}): void {
  if (isLoopback(host) || hasTls || insecure) return
  throw new CommandError(
    'plain_beyond_loopback',
    `${host} is reachable from other machines, and without TLS tokens would travel in plain text`,
    {
      hint: 'give --tls-cert and --tls-key, put a TLS proxy before a loopback address, or say --insecure; docs/serving.md shows each',
    },
  )
}

/** Whether other machines could connect and would be turned away, because nobody said by which names they call this one. */
export function isNameless({
  host,
  publicUrl,
  allowedHosts,
}: {
  readonly host: string
  readonly publicUrl: string | undefined
  readonly allowedHosts: readonly string[]
}): boolean {
  return (host === '0.0.0.0' || host === '::') && publicUrl === undefined && allowedHosts.length === 0
}
