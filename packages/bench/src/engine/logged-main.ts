// What the requests of a turn cost with all that is said on the disk before the next step, as the engine has it: four writes a turn.
import { constants, mkdtempSync, open, rmSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Asked } from './asked.ts'
import { runRaw } from './run-raw.ts'

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_DSYNC ?? 0)
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-engine-'))
let files = 0

await runRaw(Asked.parse(JSON.parse(process.argv[2] ?? 'null')), async () => {
  files += 1
  const file = await promisify(open)(join(folder, `${files}.jsonl`), APPEND)
  return (news) =>
    new Promise((resolve, reject) => {
      const text = news.map((item) => `${JSON.stringify(item)}\n`).join('')
      write(file, text, (error) => (error === null ? resolve() : reject(error)))
    })
})
rmSync(folder, { recursive: true, force: true })
