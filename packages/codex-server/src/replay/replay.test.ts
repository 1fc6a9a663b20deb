import { replayClients } from './fixture/replay-clients.ts'
import { REPLAYED_VERSIONS } from './fixture/replay.ts'

// The clients of the other versions on a real Codex, and whether any exception is not needed: `npm run verify -- codex`.
replayClients(
  [
    { engine: 'mini', versions: REPLAYED_VERSIONS },
    { engine: 'codex', versions: ['0.44.0'] },
  ],
  ({ engine }) => engine === 'mini',
)
