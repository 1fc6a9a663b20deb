import { CommandError } from '../command-line/command-error.ts'

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
      hint: 'give --tls-cert and --tls-key, put a TLS proxy before a loopback address, or say --insecure',
    },
  )
}
