// node examples/make-script.ts [--check]: writes `script.json` of each example from its `conversation.ts`, or says which is not current.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { conversation as goldbach } from './goldbach/conversation.ts'
import { conversation as knapsack } from './knapsack/conversation.ts'
import { scriptText } from './script/script-text.ts'
import { conversation as stairs } from './stairs/conversation.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
for (const [name, conversation] of Object.entries({ goldbach, knapsack, stairs })) {
  const path = join(import.meta.dirname, name, 'script.json')
  const text = scriptText(name, conversation)
  if (values.check !== true) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`examples/${name}/script.json is not current: node examples/make-script.ts\n`)
    process.exitCode = 1
  }
}
