import { type Example, readExample } from '../../demo/example.ts'
import { requireLanguage } from '../../demo/require-language.ts'
import { type PrivateInstance, openPrivateInstance } from '../../demo/private-instance.ts'
import type { Ready } from '../../gateway-process/plan.ts'
import { painterFor } from '@parley/screen'
import { CommandError, type Invocation } from '@parley/command-line'
import { watchJob } from '@parley/shell'

const DEFAULT_EXAMPLE = 'knapsack'
const CHANNEL = 'demo'
const CANCELLED = 130

/** A whole job on an instance of its own, played by a script: from the statement to the verdict, in front of one's eyes. */
export async function demo(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const example = readExample(values.text('example') ?? DEFAULT_EXAMPLE)
  if (process.platform !== 'linux')
    throw new CommandError('sandbox_unavailable', 'programs can be judged safely on Linux only, and the demo judges one', {
      hint: 'run it on such a machine, or in a container',
    })
  const say = speaker(invocation)
  const starting = new AbortController()
  const ignore = io.onSignal(() => starting.abort())
  say(`Parley demo: ${example.title}`)
  say('Starting a gateway and a judge of its own …')
  const channel = { name: CHANNEL, script: example.name, wire: 'responses', enabled: true, models: [] } as const
  const instance = await openPrivateInstance({ ...channel, models: [] }, io, starting.signal).finally(ignore)
  try {
    requireLanguage(example.language, instance.judge.languages)
    const { code, jobId } = await playOut(example, instance, invocation, say)
    const isWatched = io.stdin.isTTY && io.screen() !== undefined && !values.has('json')
    if (values.has('keep')) await keepUp(instance, jobId, invocation, say)
    else if (isWatched && code !== CANCELLED) await keepUp(instance, jobId, invocation, say, io.stdin)
    else if (code !== CANCELLED) say('To look at it on the page: npm run demo -- --keep')
    return code
  } finally {
    await instance.close()
  }
}

async function playOut(
  example: Example,
  instance: PrivateInstance,
  invocation: Invocation,
  say: (text: string) => void,
): Promise<{ readonly code: number; readonly jobId: string }> {
  const caller = await instance.caller()
  try {
    const { items } = await caller.call('models.list', { live: false })
    const [model] = items
    if (model === undefined) throw new CommandError('no_model', `the script of ${example.name} is not there`)
    const { sandbox } = instance.judge
    say(`Gateway at ${instance.ready.url}, judge in a sandbox (${sandbox.driver}, ${sandbox.tier}).`)
    say(`${model.model} works on it: a script, no model is asked.\n`)
    const { job_id } = await caller.once('job.create', { ...example.input, model: model.model })
    await caller.call('job.start', { job_id })
    say(pageWords(instance.ready, job_id, invocation.values.has('keep') ? '' : ' (npm run demo -- --keep stays up)'))
    const code = await watchJob(caller, job_id, invocation, 'cancels')
    say('\nThis was a script, no model was asked: its tokens cost nothing.')
    return { code, jobId: job_id }
  } finally {
    await caller.close()
  }
}

/** Stays up until somebody says that it is enough: by a signal, or with a key where there are keys. */
async function keepUp(
  instance: PrivateInstance,
  jobId: string,
  { io }: Invocation,
  say: (text: string) => void,
  keys?: NodeJS.ReadStream,
): Promise<void> {
  const asked = Promise.withResolvers<void>()
  const enough = (): void => asked.resolve()
  const ignore = io.onSignal(enough)
  keys?.once('data', enough).once('end', enough).resume()
  const page = pageOf(instance.ready, jobId, await newSignIn(instance))
  say(`The page stays until this stops. A new link, which signs you in once, within 15 minutes:\n  ${page.href}`)
  say(keys === undefined ? 'Ctrl-C stops everything and removes it.' : 'Enter or Ctrl-C stops everything and removes it.')
  await asked.promise
  keys?.off('data', enough).off('end', enough).pause()
  ignore()
}

/** The link that the start made may be used by now, and nobody here has a password. */
async function newSignIn(instance: PrivateInstance): Promise<string | null> {
  const { admin } = instance.ready
  if (admin === null) return null
  const caller = await instance.caller()
  try {
    return (await caller.once('user.link', { username: admin })).url
  } finally {
    await caller.close()
  }
}

/** The job's page, with the sign-in of a one-time link in it. */
function pageOf({ url }: Ready, jobId: string, signIn: string | null): URL {
  const page = new URL(`/jobs/${jobId}`, url)
  if (signIn !== null) page.hash = new URL(signIn).hash
  return page
}

/** The way to the job's page, and how long it leads there: said before the work begins, so that it can be watched there. */
function pageWords(ready: Ready, jobId: string, longer: string): string {
  const { href } = pageOf(ready, jobId, ready.sign_in)
  const watch = `Watch it on its page while this runs${longer}`
  if (ready.sign_in === null) return `${watch}:\n  ${href}\n`
  return `${watch}. This link signs you in once, within 15 minutes:\n  ${href}\n`
}

/** What is said besides the job itself: beside the result if that is for a program. */
function speaker({ io, values }: Invocation): (text: string) => void {
  const screen = io.screen()
  if (values.has('json')) return (text) => io.err(`${text}\n`)
  const paint = painterFor(screen ?? { hasColours: false })
  return (text) => io.out(`${paint('bold', text)}\n`)
}
