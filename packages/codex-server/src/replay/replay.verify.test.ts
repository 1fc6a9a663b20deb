import { replayClients } from './fixture/replay-clients.ts'
import { REPLAYED_VERSIONS } from './fixture/replay.ts'

replayClients(
  [
    { engine: 'mini', versions: REPLAYED_VERSIONS },
    { engine: 'codex', versions: REPLAYED_VERSIONS },
  ],
  () => true,
)
