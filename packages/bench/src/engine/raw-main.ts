// What the requests of a turn cost alone.
import { Asked } from './asked.ts'
import { runRaw } from './run-raw.ts'

await runRaw(Asked.parse(JSON.parse(process.argv[2] ?? 'null')), () => Promise.resolve(() => undefined))
