import type { PolicyCall } from '@parley/policy'
import type { MountSettings, ToolOutput } from '@parley/protocol'

type Warning = ToolOutput<'policy.test'>['warnings'][number]

interface Mounted {
  readonly name: string
  readonly options: Pick<MountSettings, 'allow' | 'deny' | 'renames'>
}

const MOUNTS_SHOWN = 10

/**
 * Why the call that is tried may be none that the agent can make: what would be decided about it is right, and about another one than was meant.
 * Which tools a server has is known to hosts alone.
 */
export function triedCallWarnings(
  { kind, mount, name }: Pick<PolicyCall, 'kind' | 'mount' | 'name'>,
  agent: string,
  mounts: readonly Mounted[],
): Warning[] {
  if (kind !== 'tool' && kind !== 'prompt' && kind !== 'resource') return []
  if (mount === null) return kind === 'resource' ? [] : asClientsSeeIt(name, mounts)
  const found = mounts.find((each) => each.name === mount)
  if (found === undefined) {
    const names = mounts.slice(0, MOUNTS_SHOWN).map((each) => each.name)
    const there =
      names.length === 0 ? 'it has no mounts' : `there are: ${names.join(', ')}${mounts.length > names.length ? ', …' : ''}`
    return [{ code: 'no_such_mount', message: `nothing is mounted as ${mount} for ${agent}; ${there}`, meant: null }]
  }
  return kind === 'tool' ? hiddenTool(name, found) : []
}

/** Clients see `MOUNT_NAME`; policies go by the mount and the name that its server gives. */
function asClientsSeeIt(name: string, mounts: readonly Mounted[]): Warning[] {
  const mount = mounts.find((each) => name.startsWith(`${each.name}_`))
  if (mount === undefined) return []
  const shown = name.slice(mount.name.length + 1)
  const own = mount.options.renames.find(({ to }) => to === shown)?.from ?? shown
  const message = `without a mount ${name} is an engine’s own; the mount ${mount.name} shows ${own} by this name`
  return [{ code: 'no_mount', message, meant: { mount: mount.name, name: own } }]
}

function hiddenTool(name: string, { name: mount, options: { allow, deny, renames } }: Mounted): Warning[] {
  const renamed = renames.find(({ to }) => to === name)
  if (renamed !== undefined && !renames.some(({ from }) => from === name))
    return [
      {
        code: 'renamed',
        message: `${name} is what clients see; policies go by the name that its server gives, ${renamed.from}`,
        meant: { mount, name: renamed.from },
      },
    ]
  if (!deny.includes(name) && allow?.includes(name) !== false) return []
  return [{ code: 'not_shown', message: `the mount ${mount} does not show ${name}: its allow and deny say so`, meant: null }]
}
