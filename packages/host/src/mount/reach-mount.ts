import { realpath } from 'node:fs/promises'
import { budgetedLog } from '@parley/agent'
import {
  dialTunnel,
  type ExecBackend,
  type Executor,
  executorFolder,
  type ExecutorProcessTransport,
  LazyProcesses,
  localBackend,
  openExecutor,
  ProcessError,
  startMcpServer,
} from '@parley/executor'
import { type AgentClaim, ByteRoom, type ByteShare, type HeldMount, missingDownload, type ServerSpec } from '@parley/protocol'
import { type ClientTransport, DEFAULT_LIMITS, httpTransport } from '@parley/rpc'
import { type AgentFolders, agentFolders } from './agent-folders.ts'
import { type BoxOptions, openBoxes } from './boxes.ts'
import { type HostSandbox, openHostSandbox } from './host-sandbox.ts'
import { maskedError, maskedTransport, maskOf, type MaskText } from './masked-secrets.ts'
import { MESSAGE_ROOM } from './mount-rooms.ts'
import { mountFolder } from './mount-folder.ts'
import { HeldSignIn, type SignedInAgent, signedInTransport, type SignInPorts, unsignedTransport } from './mount-sign-in.ts'
import { checkPublic, publicLookup } from './public-address.ts'

/** Makes a way to the server of a mount: starts it where it is to run, or dials it. The words of an error hold no secret. */
export type ReachMount = (
  agent: SignedInAgent & { readonly claim: AgentClaim },
  mount: HeldMount,
  signal: AbortSignal,
) => Promise<ClientTransport>

export interface HostMountsOptions extends BoxOptions, SignInPorts {
  /** The gateway by which executors are reached, and the host's token there. */
  readonly url: string
  readonly token: string
  /** Folders that mounts may be given, where the gateway grants it, with all below them. */
  readonly roots: readonly string[]
  /** What programs outside of boxes get of the environment. */
  readonly env: Readonly<Record<string, string>>
  readonly log: Log
}

/** Ways to the servers that agents mount. */
export interface HostMounts {
  readonly reach: ReachMount
  /** That of boxed programs, for what else is to run in a box here. */
  readonly sandbox: HostSandbox
  readonly folders: AgentFolders
  /** Ends the servers that were started here. */
  close(): Promise<void>
}

type StdioServer = Extract<ServerSpec, { kind: 'stdio' }>
type Log = (level: 'debug' | 'info' | 'warn', message: string) => void

/** One program of an agent's: what it is, for whom it runs, and where its own folder is. */
interface Program {
  readonly server: StdioServer
  /** The granted folder below which that of the server must lie. */
  readonly granted: string | null
  readonly claim: AgentClaim
  /** Makes it, and answers where it is. */
  readonly ownFolder: () => Promise<string>
  readonly log: Log
  readonly mask: MaskText
  readonly share: ByteShare
}

/** What a server gets to end by itself. */
const STOP_MS = 2_000
const SERVERS_MAX = 1_024

/**
 * Connects to what agents mount: a program in a box, on this machine or on an executor, or a URL. Programs of this machine come from the spawner
 * or hold their own box, so that none is left when this process is killed.
 */
export function openHostMounts(options: HostMountsOptions): HostMounts {
  const { log } = options
  const processes = new LazyProcesses(SERVERS_MAX)
  const sandbox = openHostSandbox(options)
  const boxes = openBoxes(options, sandbox)
  const here = containedBackend(processes)
  const folders = agentFolders(options.dataFolder)

  const start = (program: Program): Promise<ExecutorProcessTransport> => {
    switch (program.server.place.kind) {
      case 'boxed':
        return inBox(program)
      case 'host':
        return inFolder(program, options.env, here)
      case 'executor':
        return onExecutor(options, program.server.place.executor, program)
    }
  }
  const inBox = async (program: Program): Promise<ExecutorProcessTransport> => {
    const { place, env } = await boxes(program.server)
    return inFolder(program, { ...env, HOME: await program.ownFolder() }, place)
  }
  const inFolder = async (
    { server, granted, ownFolder, share, log: say, mask }: Program,
    env: Readonly<Record<string, string>>,
    place: ExecBackend,
  ): Promise<ExecutorProcessTransport> => {
    const own = await ownFolder()
    const { folder } = server
    const cwd = folder === undefined ? await realpath(own) : await mountFolder({ folder, granted }, options.roots)
    return startMcpServer({ ...programOf(server), env: { ...env, ...envOf(server) }, cwd }, place, {
      ...logTo(say, mask),
      share,
    })
  }
  const messages = new ByteRoom(MESSAGE_ROOM)
  // Of mounts that are held: what replaces one is another.
  const signIns = new WeakMap<HeldMount, HeldSignIn>()
  const signInOf = (mount: HeldMount): HeldSignIn | undefined => {
    if (mount.sign_in === null || mount.server.kind !== 'http') return undefined
    const signIn = signIns.get(mount) ?? new HeldSignIn(mount, mount.server.url, mount.sign_in, options)
    signIns.set(mount, signIn)
    return signIn
  }
  // Also of a mount: one whose program ends and is started again has no more of the log for that.
  const logs = new WeakMap<HeldMount, Log>()
  const logOf = (mount: HeldMount): Log => {
    const known = logs.get(mount) ?? budgetedLog(log)
    logs.set(mount, known)
    return known
  }
  const reach: ReachMount = async (agent, mount, signal) => {
    const { claim } = agent
    const { server } = mount
    const signIn = signInOf(mount)
    const mask = maskOf(mount, () => signIn?.secrets ?? [])
    const missing = missingDownload(server)
    const hint = missing === undefined ? '' : `; ${missing}`
    const say: Log = (level, message) => logOf(mount)(level, mask(`${claim.agent_id} ${mount.name}: ${message}`))
    try {
      signal.throwIfAborted()
      if (server.kind === 'http')
        return maskedTransport(await signedIn(agent, mount, httpTo(server, agent, signIn, messages), signIn), mask)
      const ownFolder = (): Promise<string> => folders.make(claim.agent_id, mount.name)
      const share = messages.share(agent.owner)
      const transport = await start({ server, granted: mount.folder_granted, claim, ownFolder, share, log: say, mask })
      if (signal.aborted) await transport[Symbol.asyncDispose]()
      signal.throwIfAborted()
      return maskedTransport(transport, mask, hint)
    } catch (error) {
      throw maskedError(error, (text) => `${mask(text)}${hint}`)
    }
  }
  return { reach, sandbox, folders, close: () => processes.close(STOP_MS) }
}

function httpTo(
  { url, headers }: Extract<ServerSpec, { kind: 'http' }>,
  { owner, privateHttp }: SignedInAgent,
  signIn: HeldSignIn | undefined,
  messages: ByteRoom,
): ClientTransport {
  if (!privateHttp) checkPublic(url)
  return httpTransport({
    url,
    headers: byName(headers),
    room: () => messages.share(owner),
    ...(privateHttp ? {} : { lookup: publicLookup() }),
    ...(signIn === undefined ? {} : { currentToken: () => signIn.token }),
  })
}

async function signedIn(
  agent: SignedInAgent,
  mount: HeldMount,
  transport: ClientTransport,
  signIn: HeldSignIn | undefined,
): Promise<ClientTransport> {
  if (signIn === undefined) return unsignedTransport(transport, agent, mount)
  await signIn.fresh(agent)
  return signedInTransport(transport, signIn, agent)
}

/** On an executor that the gateway lets this host reach for the agent; the way there ends with the server. */
async function onExecutor(
  { url, token }: Pick<HostMountsOptions, 'url' | 'token'>,
  name: string,
  { server, claim, share, log, mask }: Program,
): Promise<ExecutorProcessTransport> {
  const executor = await openExecutor({
    dial: () => dialTunnel(url, { executor: name, claim, token }),
    clientName: 'parley-host',
    inherit: 'core',
    log: (message) => log('warn', message),
  })
  try {
    const cwd = server.folder ?? executorFolder(executor)
    return await startMcpServer({ ...programOf(server), env: envOf(server), cwd }, closingWith(executor), {
      ...logTo(log, mask),
      share,
    })
  } catch (error) {
    await executor.close()
    throw error
  }
}

/** An executor for one process alone: the session with it goes when that does. */
const closingWith = (executor: Executor): ExecBackend => ({
  start: async (spec) => {
    const process = await executor.start(spec)
    void process.ended.then(() => executor.close())
    return process
  },
})

/** Programs of this machine: with a PID namespace of its own each, where the system has one for us. */
function containedBackend(processes: LazyProcesses): ExecBackend {
  const contained = localBackend({ processes, contained: true })
  const plain = localBackend({ processes })
  return {
    start: (spec) =>
      contained.start(spec).catch((error: unknown) => {
        if (error instanceof ProcessError && error.reason === 'EPERM') return plain.start(spec)
        throw error
      }),
  }
}

const programOf = ({ command, args }: StdioServer) => ({ command, args })
const envOf = ({ env }: StdioServer): Record<string, string> => byName(env)
const byName = (values: readonly { readonly name: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(values.map(({ name, value }) => [name, value]))
// A message has as much room as on every other wire.
const logTo = (log: Log, mask: MaskText) => ({ log, mask, stdoutLineBytes: DEFAULT_LIMITS.messageBytes })
