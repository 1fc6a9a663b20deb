import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '@parley/protocol'
import { openCodexInEnvironment, openCuttable } from '@parley/contracts/testing'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import { type Soak, Tally } from '../soak.ts'
import { ExecServerProcess } from './executor-world.ts'
import { SeededRandom } from './random.ts'

const ROUNDS = 20
const CALLS = 5

/** A real Codex behind whose environment our exec-server stands, and whose connection is cut at random moments. */
export const codexExecutorSoak: Soak = {
  name: 'codex-executor',
  summary: 'a real Codex with an MCP server on our exec-server, cut again and again: every call is answered and done once',
  needs: { programs: [], peers: ['codex-0.166'] },
  run: async (options) => {
    const tally = new Tally()
    const random = new SeededRandom(options.seed)
    const peer = await ensurePeer('codex-0.166')
    const rounds = Math.max(1, Math.round(ROUNDS * options.share))
    for (let round = 1; round <= rounds; round += 1) {
      const server = new ExecServerProcess(['--root', '/'])
      await server.start()
      try {
        await using way = await openCuttable(`ws://127.0.0.1:${server.port}`)
        await using codex = await openCodexInEnvironment(peer, { url: way.url })
        codex.go()
        // A Codex that is cut while it starts a server gives that up: that is its own rule.
        await codex.call()
        for (let call = 2; call <= CALLS; call += 1) {
          const calling = codex.call()
          await wait(random.between(0, 40))
          way.cut()
          const content = JSON.stringify(await calling)
          const effects = codex.effects()
          tally.expect(effects.length === call, `round ${round}: ${call} calls were done ${effects.length} times`)
          tally.expect(content.includes(`worked in ${effects.at(-1)}`), `round ${round}: call ${call} answered ${content}`)
          tally.count('calls')
        }
        tally.count('cuts', way.cuts())
        await codex.end()
      } catch (error) {
        tally.problem(`round ${round}: ${messageOf(error)}`)
      } finally {
        await server.kill('SIGTERM')
      }
      options.log(`round ${round} of ${rounds}`)
    }
    return tally.result()
  },
}
