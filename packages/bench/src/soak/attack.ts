import { ATTACKS } from './attack-kinds.ts'
import { openAttackWorld } from './attack-world.ts'
import { SeededRandom } from './random.ts'
import type { Soak } from '../soak.ts'
import { Tally } from '../soak.ts'

const ROUNDS = 40

/** Attacks on one gateway in random order, one after the other. After each, those who work are served. */
export const attackSoak: Soak = {
  name: 'attack',
  summary: 'revoked half-way, unfinished bodies, sessions and pings without end, foreign ids, guesses, uploads given up',
  needs: { programs: [], peers: [] },
  run: async ({ seed, share, log }) => {
    const tally = new Tally()
    const random = new SeededRandom(seed)
    await using world = await openAttackWorld({ random, tally, share })
    // Every kind once, then as it comes.
    const rounds = Math.max(ATTACKS.length, Math.ceil(ROUNDS * share))
    for (let round = 0; round < rounds; round += 1) {
      const attack = ATTACKS[round] ?? random.pick(ATTACKS)
      log(`round ${round + 1} of ${rounds}: ${attack.name}`)
      await attack.run(world)
      tally.count(attack.name)
      tally.expect(!world.gateway.program.exited(), `the gateway ended after ${attack.name}:\n${world.gateway.program.stderr()}`)
      if (world.gateway.program.exited()) break
      tally.expect(await world.isServed(world.ann), `ann is not served after ${attack.name}`)
      tally.expect(await world.isServed(world.gateway.token), `the admin is not served after ${attack.name}`)
    }
    return tally.result()
  },
}
