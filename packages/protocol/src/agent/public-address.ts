import { BlockList, isIP } from 'node:net'

/** Of IPv6 only what is given out to networks of the internet is public; whatever else there is, is not. */
const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')

/** What lies within the internet's own range and is none of it: machines, their networks, examples, and other addresses in disguise. */
const CLOSED = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  CLOSED.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  CLOSED.addSubnet(address, bits, 'ipv6')

/** Whether an address is one of the internet's. What is no address, or only means one of a network of ours, is not. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !CLOSED.check(address, 'ipv4')
  return isIP(address) === 6 && !address.includes('%') && GLOBAL.check(address, 'ipv6') && !CLOSED.check(address, 'ipv6')
}

/** The host of a URL, where it is an address that is not public, or a name that means this machine everywhere. Other names tell when they are dialled. */
export function closedHost(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const isClosed = isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host)
  return isClosed ? host : undefined
}
