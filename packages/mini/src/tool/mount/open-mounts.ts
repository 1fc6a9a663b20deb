import { type JsonObject, messageOf, unlessAborted } from '@parley/protocol/wire'
import type { ConnectMount, MountSpec } from '@parley/agent'
import type { BoundTool } from '../toolbox.ts'
import { TOOL_BOUNDS } from '../bounds.ts'
import { OWN_TOOLS } from '../own-tool.ts'
import { MountFailed } from './mount-failed.ts'
import { MountLink } from './mount-link.ts'
import { mountedTool } from './mounted-tool.ts'
import { toolNames } from './tool-names.ts'

export interface OpenMounts {
  readonly mounts: readonly MountSpec[]
  readonly connect: ConnectMount
  readonly connectMs: number
  readonly toolMs: number
  readonly resultBytes: number
  readonly signal: AbortSignal
}

export interface Mounts {
  readonly tools: readonly BoundTool[]
  readonly warnings: readonly string[]
  close(): Promise<void>
}

/** Connects to all servers side by side. One that is required and fails takes the others with it. */
export async function openMounts(open: OpenMounts): Promise<Mounts> {
  checkNames(open.mounts)
  const links = open.mounts.map((spec) => new MountLink({ spec, connect: open.connect, connectMs: open.connectMs }))
  const close = async (): Promise<void> => void (await Promise.all(links.map((link) => link.close())))
  try {
    const reached = await unlessAborted(Promise.all(links.map(reach)), open.signal)
    const warnings = reached.flatMap(({ warning }) => warning)
    return { tools: bind(reached, open, warnings), warnings, close }
  } catch (error) {
    await close()
    throw error
  }
}

const NAME = /^[a-z][a-z0-9-]*$/

function checkNames(mounts: readonly MountSpec[]): void {
  const seen = new Set<string>()
  for (const { name } of mounts) {
    if (!NAME.test(name)) throw new MountFailed(JSON.stringify(name), 'needs a name of lower case letters, digits and hyphens')
    if (seen.has(name)) throw new MountFailed(name, 'is there twice: every mount needs a name of its own')
    seen.add(name)
  }
}

interface Listed {
  readonly link: MountLink
  readonly tool: string
  readonly listed: JsonObject
}

interface Reached {
  readonly listed: readonly Listed[]
  readonly warning: readonly string[]
}

async function reach(link: MountLink): Promise<Reached> {
  const { name, required } = link.spec
  try {
    return readable(link, await link.listTools())
  } catch (error) {
    const why = error instanceof MountFailed ? error.message : `the mount ${name} could not be reached: ${messageOf(error)}`
    if (!required) return { listed: [], warning: [`${why}; its tools are not there`] }
    if (error instanceof MountFailed) throw error
    throw new MountFailed(name, `could not be reached: ${messageOf(error)}`, { cause: error })
  }
}

function readable(link: MountLink, tools: readonly JsonObject[]): Reached {
  const listed: Listed[] = []
  const warning: string[] = []
  const seen = new Set<string>()
  for (const tool of tools.slice(0, TOOL_BOUNDS.mountTools)) {
    const { name } = tool
    if (typeof name !== 'string' || name === '') warning.push(`the mount ${link.spec.name} has a tool without a name: left out`)
    else if (seen.has(name))
      warning.push(`the mount ${link.spec.name} has two tools called ${JSON.stringify(name)}: the second is left out`)
    else listed.push({ link, tool: name, listed: tool })
    if (typeof name === 'string') seen.add(name)
  }
  if (tools.length > TOOL_BOUNDS.mountTools)
    warning.push(`the mount ${link.spec.name} has ${tools.length} tools: only the first ${TOOL_BOUNDS.mountTools} are there`)
  return { listed, warning }
}

function bind(reached: readonly Reached[], { toolMs, resultBytes }: OpenMounts, warnings: string[]): readonly BoundTool[] {
  const all = reached.flatMap(({ listed }) => listed)
  const origins = all.map(({ link, tool }) => ({ mount: link.spec.name, tool, plain: link.spec.plain ?? false }))
  const names = toolNames(origins, OWN_TOOLS)
  const warn = (message: string): void => void warnings.push(message)
  return all.map((one, index) => mountedTool({ ...one, name: names[index] ?? '', toolMs, resultBytes, warn }))
}
