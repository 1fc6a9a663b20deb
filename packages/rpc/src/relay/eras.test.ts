import { expect, test } from 'vitest'
import { runServerScenarios } from '../../../../scripts/peers/conformance.ts'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { httpTransport } from '../client/http-transport.ts'
import { everythingService } from '../fixture/service.ts'
import { openTestServer } from '../testing/open-server.ts'
import { openRelay } from './relay.ts'

/** A legacy server asks one thing after the other and has no names for its questions, so these two cannot be told. */
const LOST_IN_TRANSLATION = ['input-required-result-basic-elicitation', 'input-required-result-multiple-input-requests']

test.for([
  { upstream: 'modern', clients: '2025-11-25', lost: [] },
  { upstream: 'modern', clients: '2026-07-28', lost: [] },
  { upstream: 'legacy', clients: '2025-11-25', lost: [] },
  { upstream: 'legacy', clients: '2026-07-28', lost: LOST_IN_TRANSLATION },
] as const)(
  'through the relay a $upstream server passes the frozen set $clients',
  { timeout: 180_000 },
  async ({ upstream: era, clients: requirements, lost }, context) => {
    const peer = await peerFor(context, 'conformance-0.2.0-alpha.12')
    await using upstream = await openTestServer(everythingService(), { open: true })
    const relay = await openRelay({
      era,
      clientInfo: { name: 'relay', version: '1' },
      connect: () => Promise.resolve(httpTransport({ url: upstream.mcp })),
    })
    await using server = await openTestServer(relay, { open: true })
    const results = await runServerScenarios({ peer, url: server.mcp, set: { requirements } })
    const failed = results.filter(({ scored, passed }) => scored && !passed).map(({ scenario }) => scenario)
    expect(failed.toSorted()).toEqual(lost)
    await relay.close()
  },
)
