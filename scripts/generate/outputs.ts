import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { renderMethodTable } from '@parley/codex-server/app-server'
import { Registry } from '@parley/contracts'
import {
  COMPOSITOR_TOOLS,
  DOCUMENTS,
  type JsonObject,
  NOTIFICATIONS,
  RESOURCES,
  STATUS_TOOLS,
  TOOLS,
  describeDocument,
  describeTool,
} from '@parley/protocol'
import { loadRooms } from '../check/rooms.ts'
import { contractReference } from './contract-reference.ts'
import { contractTypes } from './contract-types.ts'
import { diagram, roomTable } from './diagram.ts'
import { faultTable } from './fault-table.ts'
import { reference } from './reference.ts'

export const SCHEMA_FOLDER = 'docs/protocol/tools'
export const DOCUMENT_FOLDER = 'docs/protocol/documents'
const APP_SERVER_HEAD = `# Methods of \`parley app-server\`

Made from \`packages/codex-server/src/app/method-table.ts\` by \`npm run generate\`; do not edit. What a client of the app-server of
Codex 0.42 and 0.44 gets of each method on either engine, and what the real one did otherwise and was wrong.
[The contracts](contracts.md) have the shapes.
`
const RUNTIME_PAGE = 'docs/runtime/README.md'
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Every generated file, by path from the root, with the text it should have. */
export function outputs(root: string): ReadonlyMap<string, string> {
  const tools = Object.values(TOOLS)
  const files = new Map<string, string>()
  const statusTools = Object.values(STATUS_TOOLS)
  const compositorTools = Object.values(COMPOSITOR_TOOLS)
  for (const spec of [...tools, ...statusTools, ...compositorTools]) {
    const { name, inputSchema, outputSchema } = describeTool(spec)
    files.set(`${SCHEMA_FOLDER}/${name}.input.schema.json`, schemaFile(`${name}: arguments`, inputSchema))
    files.set(`${SCHEMA_FOLDER}/${name}.output.schema.json`, schemaFile(`${name}: result`, outputSchema))
  }
  for (const [name, { schema }] of Object.entries(DOCUMENTS))
    files.set(`${DOCUMENT_FOLDER}/${name}.schema.json`, schemaFile(name, describeDocument(schema)))
  const documents = Object.entries(DOCUMENTS).map(([name, { doc }]) => ({ name, doc }))
  files.set(
    'docs/protocol/reference.md',
    reference({
      tools,
      statusTools,
      compositorTools,
      resources: Object.values(RESOURCES),
      notifications: Object.values(NOTIFICATIONS),
      documents,
    }),
  )
  const contracts = new Registry(pathToFileURL(join(root, 'packages/contracts/contracts/')))
  for (const [path, text] of contractTypes(contracts)) files.set(path, text)
  files.set('docs/codex/contracts.md', contractReference(contracts))
  files.set('docs/codex/app-server.md', `${APP_SERVER_HEAD}\n${renderMethodTable()}`)
  const rooms = loadRooms(root)
  files.set('docs/architecture.md', withBlocks(root, 'docs/architecture.md', { arrows: diagram(rooms) }))
  files.set(RUNTIME_PAGE, withBlocks(root, RUNTIME_PAGE, { faults: faultTable(root) }))
  files.set('README.md', withBlocks(root, 'README.md', { rooms: roomTable(rooms) }))
  return files
}

function schemaFile(title: string, schema: JsonObject): string {
  return `${JSON.stringify({ $schema: DIALECT, title, ...schema }, undefined, 2)}\n`
}

/** A page that people write, with the blocks between `generated: NAME` and `generated: end` replaced. */
function withBlocks(root: string, path: string, blocks: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(root, path), 'utf8')
  for (const [name, body] of Object.entries(blocks)) {
    const pattern = new RegExp(`(<!-- generated: ${name}[^>]*-->\\n)[^]*?(<!-- generated: end -->)`)
    if (!pattern.test(text)) throw new Error(`${path} has no block "generated: ${name}"`)
    text = text.replace(pattern, (_, open: string, close: string) => `${open}${body}\n${close}`)
  }
  return text
}
