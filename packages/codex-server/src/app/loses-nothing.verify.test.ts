import { losesNothing } from './fixture/loses-nothing.ts'

for (const name of ['codex-0.42', 'codex-0.45', 'codex-0.58', 'codex-0.77', 'codex-0.107', 'codex-0.153', 'codex-0.166'] as const)
  await losesNothing(name)
