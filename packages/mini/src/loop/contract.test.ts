import { engineContract } from '@parley/agent/testing'
import { openMiniWorld } from './fixture/mini-world.ts'

for (const wire of ['responses', 'chat'] as const) engineContract(`mini over ${wire}`, { open: () => openMiniWorld({ wire }) })
