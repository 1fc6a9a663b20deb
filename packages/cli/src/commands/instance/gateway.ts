import type { Invocation } from '@parley/command-line'
import { hearEnd } from '@parley/command-line/commands'
import { instanceOf } from '../../config/instance.ts'
import { isPageBuilt, PAGE_BUILDING } from '../../data/page-files.ts'
import { serveGateway } from '../../gateway-process/serve-gateway.ts'
import { readyAt } from '../../up/ready-message.ts'
import { signInMessage } from '../../up/sign-in-message.ts'

const GRACE_MS = 10_000

/** One gateway in this process, until it is told to end. */
export async function gateway(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const end = hearEnd(io)
  const settings = instanceOf(invocation)
  const served = await end.before(serveGateway({ settings, cwd: io.cwd }, io), 'the gateway', (late) => late.close(0))
  const { ready } = served
  if (values.has('json')) io.out(`${JSON.stringify(ready)}\n`)
  else
    io.out(
      io.typed(
        [`The gateway is ready: ${readyAt(ready, settings.publicUrl).url}/`, ...signInMessage(ready, values), ''].join('\n'),
      ),
    )
  if (!isPageBuilt()) io.err(`The page is not built: ${PAGE_BUILDING}.\n`)
  await end.asked
  await served.close(GRACE_MS)
  end.ignore()
  return 0
}
