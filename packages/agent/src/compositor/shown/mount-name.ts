import { InvalidArgument } from '../../errors.ts'

const MOUNT_NAME = /^[a-z][a-z0-9-]*$/
const MOUNT_NAME_CHARS = 64
/** What models and clients take as the name of a tool. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/
const SEPARATOR = '_'

/** Names that our own tools and resources begin with, now or soon. A mount of that name could pass for one of them. */
const RESERVED_NAMES: readonly string[] = ['chat', 'compositor', 'guard', 'loop', 'policy', 'resources', 'tools']

export function checkMountName(name: string): void {
  if (!MOUNT_NAME.test(name) || name.length > MOUNT_NAME_CHARS)
    throw new InvalidArgument(
      'name',
      `must be a-z, 0-9 and -, begin with a letter and have at most ${MOUNT_NAME_CHARS} characters`,
    )
  if (RESERVED_NAMES.includes(name)) throw new InvalidArgument('name', `must not be ${name}, which is reserved`)
}

/** As a tool or prompt of a mount is shown. */
export function shownName(mount: string, name: string): string {
  return `${mount}${SEPARATOR}${name}`
}

/** A shown name taken apart. The name of a mount has no `_`, so the first one is ours, whatever the server's names look like. */
export function readName(shown: string): { readonly mount: string; readonly name: string } | undefined {
  const at = shown.indexOf(SEPARATOR)
  return at < 1 ? undefined : { mount: shown.slice(0, at), name: shown.slice(at + 1) }
}

/** What is wrong with the name of a tool as it would be shown. */
export function toolNameFault(shown: string): string | undefined {
  return TOOL_NAME.test(shown) ? undefined : 'its name has more than 128 characters or other ones than A-Z a-z 0-9 _ . -'
}
