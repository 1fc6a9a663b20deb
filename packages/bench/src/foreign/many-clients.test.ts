import { test } from 'vitest'
import { manyClients } from './fixture/many-clients.ts'

test('clients at one agent share its mounts, and each hears what is for it alone', { timeout: 240_000 }, (context) =>
  manyClients(context, 6),
)
