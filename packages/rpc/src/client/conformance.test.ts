import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import type { Peer, PeerName } from '../../../../scripts/peers/peer.ts'

const CLIENT = fileURLToPath(new URL('fixture/conformance-client.ts', import.meta.url))

/** What the suite gives our client; it is a process of its own, and late on a busy machine. */
const CLIENT_MS = 240_000

/** Every client scenario that is neither about OAuth nor about an extension, at the revision the suite picks or names. */
const SCENARIOS: readonly { readonly peer: PeerName; readonly scenario: string; readonly version?: string }[] = [
  { peer: 'conformance-0.1.16', scenario: 'initialize' },
  { peer: 'conformance-0.1.16', scenario: 'tools_call' },
  { peer: 'conformance-0.1.16', scenario: 'elicitation-sep1034-client-defaults' },
  { peer: 'conformance-0.1.16', scenario: 'sse-retry' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'initialize' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'tools_call' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'tools_call', version: '2026-07-28' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'elicitation-sep1034-client-defaults' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'sse-retry' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'request-metadata' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'sep-2322-client-request-state' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'http-standard-headers' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'http-custom-headers' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'http-invalid-tool-headers' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'json-schema-ref-no-deref' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'json-schema-2020-12-preservation' },
  { peer: 'conformance-0.2.0-alpha.12', scenario: 'json-schema-2020-12-preservation', version: '2026-07-28' },
]

// Each mostly waits, for a process of its own: side by side they take a third of the time.
test.concurrent.for(SCENARIOS)(
  'our client passes $scenario of $peer $version',
  { timeout: CLIENT_MS + 60_000 },
  async ({ peer: name, scenario, version }, context) => {
    const peer = await peerFor(context, name)
    const output = await runClientScenario(peer, scenario, version)
    if (!isOnlyLate(output)) expect(output).toContain('OVERALL: PASSED')
    expect(output).not.toContain('SKIPPED: scenario')
  },
)

/** The suite watches a clock: that a client reconnects late says nothing on a busy machine. Too early stays a failure. */
function isOnlyLate(output: string): boolean {
  const complaints = [...output.matchAll(/^ +(?:Warning|Error): (.+)$/gm)].map(([, words = '']) => words)
  return complaints.length > 0 && complaints.every((words) => /^Client reconnected (slightly|very) late /.test(words))
}

async function runClientScenario(peer: Peer, scenario: string, version: string | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-conformance-'))
  const args = ['client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario, '--output-dir', folder]
  const patience = ['--timeout', String(CLIENT_MS)]
  try {
    return await new Promise((done) => {
      const more = version === undefined ? [] : ['--spec-version', version]
      execFile(process.execPath, [peer.bin('conformance'), ...args, ...patience, ...more], (_error, stdout, stderr) =>
        done(stdout + stderr),
      )
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
