import { overTheBridge } from './fixture/over-the-bridge.ts'

await overTheBridge('codex-0.153')
