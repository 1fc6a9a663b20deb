// Opens a box, runs something long in it, says so, and waits to be killed.
import { openSandbox } from '../index.ts'
import { ROOMY } from './scratch.ts'

const [cacheFolder = '', runFolder = '', tier = 'root', command = 'sleep 7531'] = process.argv.slice(2)
const sandbox = await openSandbox({
  driver: 'cage',
  cacheFolder,
  runFolder,
  tier: tier === 'landlock' || tier === 'user-namespaces' ? tier : 'root',
})
const box = await sandbox.openBox({ kind: 'judge' })
const running = box.run({ argv: ['/bin/sh', '-c', command], limits: { ...ROOMY, wallMs: 600_000 } })
process.stdout.write('running\n')
await running
