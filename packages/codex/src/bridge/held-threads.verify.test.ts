import { heldThreads } from './testing/held-threads.ts'

heldThreads('codex-0.44')
