import { heldThreads } from './fixture/held-threads.ts'

heldThreads('codex-0.44')
