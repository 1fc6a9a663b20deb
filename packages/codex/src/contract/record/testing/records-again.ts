import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { peerFor } from '../../../../../../scripts/peers/peer-or-skip.ts'
import type { ObservedVersion } from '../../registry-types.ts'
import { recordScenario } from '../record-scenario.ts'
import { scenariosOf } from '../scenarios/index.ts'
import { openRecordingWorld } from '../fixture/recording-world.ts'

const PEERS = { '0.42.0': 'codex-0.42', '0.44.0': 'codex-0.44', '0.153.4': 'codex-0.153', '0.166.0': 'codex-0.166' } as const
/** What is most likely to differ from run to run: ids, times, paths, calls at once, commands, git. */
const RECORDED = /^(approval-patch-approved|conversation-keep|old-methods|tool-parallel|workspace)$/

const kept = (version: string, name: string): string =>
  readFileSync(new URL(`../../../../contracts/recordings/${version}/${name}.jsonl`, import.meta.url), 'utf8')

/** A real Codex of this version does what it did when its traffic was recorded. */
export function recordsAgain(version: ObservedVersion): void {
  describe(`Codex ${version}`, () => {
    again(version)
  })
}

function again(version: ObservedVersion): void {
  test.for(scenariosOf(version).filter(({ name }) => RECORDED.test(name)))(
    'recording $name again gives the same bytes',
    async (scenario, test) => {
      const peer = await peerFor(test, PEERS[version])
      const text = await recordScenario({
        scenario,
        version,
        codex: `codex-cli ${version}`,
        openWorld: (settings, model) => openRecordingWorld(peer, settings, model),
      })
      expect(text).toBe(kept(version, scenario.name))
    },
  )
}
