import { test } from 'vitest'
import { manyClients } from './fixture/many-clients.ts'

test('fifty clients at one agent share its mounts, and each hears what is for it alone', { timeout: 600_000 }, (context) =>
  manyClients(context, 50),
)
