import { keepsGate } from './fixture/keeps-gate.ts'

await keepsGate('codex-0.44')
