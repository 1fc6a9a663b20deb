import { serveCommand } from '../../testing/index.ts'
import { v2Contract } from './fixture/v2-contract.ts'

// The HTTP client of 0.153 makes one call at a time to a server that answers without a stream.
await v2Contract('codex-0.153', { serve: serveCommand })
