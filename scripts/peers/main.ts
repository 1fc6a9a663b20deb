import { ensurePeer, PeerUnavailable } from './ensure-peer.ts'
import { isPeerName, PINNED_PEERS } from './peer.ts'

const known = Object.keys(PINNED_PEERS)
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !isPeerName(name))
if (unknown.length > 0) {
  process.stderr.write(`unknown peer ${unknown.join(', ')}; there are: ${known.join(', ')}\n`)
  process.exit(2)
}
for (const name of asked.length > 0 ? asked : known) {
  if (!isPeerName(name)) continue
  try {
    const peer = await ensurePeer(name)
    process.stdout.write(`${name} ${peer.version} ${peer.dir}\n`)
  } catch (error) {
    if (!(error instanceof PeerUnavailable)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
