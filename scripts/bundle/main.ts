// node scripts/bundle/main.ts: the program in few files instead of a thousand, in packages/cli/dist. `npm run setup` calls it.
import { dirname } from 'node:path'
import { buildBundle } from './build-bundle.ts'

await buildBundle(dirname(dirname(import.meta.dirname)))
