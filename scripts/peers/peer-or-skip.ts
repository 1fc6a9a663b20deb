import { ensurePeer, PeerUnavailable } from './ensure-peer.ts'
import type { Peer, PeerName } from './peer.ts'

/** For tests: the peer, or `undefined` with a loud line where there is no network. In CI a missing peer is a failure. */
export async function peerOrSkip(name: PeerName): Promise<Peer | undefined> {
  try {
    return await ensurePeer(name)
  } catch (error) {
    if (!(error instanceof PeerUnavailable) || process.env['CI'] === 'true') throw error
    process.stderr.write(`\n*** SKIPPED: ${error.message}\n*** What needs ${name} was NOT tested.\n\n`)
    return undefined
  }
}

/** The peer for a running test. Where it cannot be had the test counts as skipped, never as passed. */
export async function peerFor(test: { skip(note: string): never }, name: PeerName): Promise<Peer> {
  return (await peerOrSkip(name)) ?? test.skip(`${name} cannot be had`)
}
