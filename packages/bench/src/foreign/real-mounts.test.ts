import { test } from 'vitest'
import { realMountsTogether } from './fixture/real-mounts-together.ts'

test(
  'real servers under one agent: all of one, a browser, and nothing left when the host is killed',
  { timeout: 240_000 },
  (context) => realMountsTogether(context, { servers: ['everything', 'web'], client: 'SDK 1.32' }),
)
