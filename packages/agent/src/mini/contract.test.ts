import { engineContract } from '../testing/contract/engine-contract.ts'
import { openMiniWorld } from '../testing/mini-world.ts'

for (const wire of ['responses', 'chat'] as const) engineContract(`mini over ${wire}`, { open: () => openMiniWorld({ wire }) })
