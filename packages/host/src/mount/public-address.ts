import { lookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { isPublicAddress } from '@parley/protocol/public-address'
import type { HttpTransportOptions } from '@parley/rpc'

/** To reach what is not public is an admin's to give. */
class NotPublic extends Error {
  readonly code = 'not_public'
  constructor(host: string) {
    super(`${host} is not a public address: to reach it must be granted by an admin (parley grant set USER --private-http on)`)
    this.name = 'NotPublic'
  }
}

/** Throws `NotPublic` for a URL whose host is an address that is not. A name is looked up when it is dialled. */
export function checkPublic(url: string): void {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new NotPublic(host)
}

type Resolve = (
  name: string,
  options: { readonly all: true },
  found: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Finds addresses for a connection that is being made, and refuses the name where any of them is not public. What was found is what is
 * dialled, so a name that means something else a moment later gains nothing.
 */
export function publicLookup(resolve: Resolve = lookup): NonNullable<HttpTransportOptions['lookup']> {
  return (name, options, found) =>
    resolve(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null) return found(error, '')
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return found(new NotPublic(name), '')
      if (options.all === true) found(null, addresses)
      else found(null, first.address, first.family)
    })
}
