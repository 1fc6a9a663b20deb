import { overTheBridge } from './testing/over-the-bridge.ts'

await overTheBridge('codex-0.153')
