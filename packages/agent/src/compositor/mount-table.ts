import { RpcError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import { InvalidArgument } from '../errors.ts'
import { checkMountName, readName } from './shown/mount-name.ts'
import type { MountOptions } from './mount-options.ts'
import type { MountedServer } from './mounted-server.ts'
import type { TakenNames } from './shown/shown-lists.ts'
import { readUri } from './shown/shown-uri.ts'

/** What a client named: the mount that it belongs to, and the name that its server gives it. */
export interface MountTarget<C extends Caller> {
  readonly mount: MountedServer<C>
  readonly name: string
  /** As the client named it. */
  readonly shown: string
}

/** What the compositor itself answers to. */
export interface OwnNames {
  isTool(name: string): boolean
  isResource(uri: string): boolean
}

/**
 * The mounts by name, and which of them a name or URI belongs to. A name belongs to the mount that it begins with, whether or not
 * that mount lists it: what a server lists can neither take a name from another mount nor pass for one of ours.
 */
export class MountTable<C extends Caller> implements TakenNames {
  readonly #mounts = new Map<string, MountedServer<C>>()
  readonly #own: OwnNames
  readonly #limit: number

  constructor(own: OwnNames, limit: number) {
    this.#own = own
    this.#limit = limit
  }

  get all(): readonly MountedServer<C>[] {
    return [...this.#mounts.values()]
  }

  /** Throws what is wrong with attaching this. */
  check({ name, plain }: MountOptions): void {
    checkMountName(name)
    if (this.#mounts.has(name)) throw new InvalidArgument('name', `is taken: ${name} is mounted already`)
    if (this.#mounts.size >= this.#limit) throw new InvalidArgument('name', `cannot be mounted: there are ${this.#limit} mounts`)
    const other = plain === true ? this.#plain : undefined
    if (other !== undefined) throw new InvalidArgument('plain', `is taken: ${other.name} is the plain mount`)
  }

  add(mount: MountedServer<C>): void {
    this.#mounts.set(mount.name, mount)
  }

  remove(name: string): MountedServer<C> | undefined {
    const mount = this.#mounts.get(name)
    this.#mounts.delete(name)
    return mount
  }

  get(name: string): MountedServer<C> | undefined {
    return this.#mounts.get(name)
  }

  tool(shown: string): MountTarget<C> {
    const found = this.#named(shown)
    const name = found?.mount.view.toolNamed(found.name)
    if (found === undefined || name === undefined) throw unknownName('tool', shown)
    return { ...found, name }
  }

  prompt(shown: string): MountTarget<C> {
    const found = this.#named(shown)
    if (found === undefined || found.mount.view.unwantedPrompt(found.name) !== undefined) throw unknownName('prompt', shown)
    return found
  }

  /** The mount of a resource or a template, and the URI that its server knows. */
  resource(shown: string): MountTarget<C> {
    const found = this.findResource(shown)
    if (found === undefined) throw new RpcError('resource_not_found_legacy', `Resource not found: ${shown}`, { uri: shown })
    return found
  }

  /** One that its mount is not to show is as unknown as one that does not exist. */
  findResource(shown: string): MountTarget<C> | undefined {
    const found = this.#located(shown)
    return found?.mount.view.unwantedResource(found.name) === undefined ? found : undefined
  }

  #located(shown: string): MountTarget<C> | undefined {
    const read = readUri(shown)
    const mount = read === undefined ? undefined : this.#prefixed(read.mount)
    if (read !== undefined && mount !== undefined) return { mount, name: read.uri, shown }
    const plain = this.#plain
    return plain === undefined ? undefined : { mount: plain, name: shown, shown }
  }

  /** Of a plain mount: who has this name already. */
  name(shown: string): string | undefined {
    if (this.#own.isTool(shown)) return 'the compositor has a tool of its name'
    const prefix = readName(shown)?.mount
    return prefix !== undefined && this.#prefixed(prefix) !== undefined ? `its name belongs to the mount ${prefix}` : undefined
  }

  /** The same for a URI. */
  uri(shown: string): string | undefined {
    const prefix = readUri(shown)?.mount
    return prefix !== undefined && this.#prefixed(prefix) !== undefined ? `its URI belongs to the mount ${prefix}` : undefined
  }

  /** Of any mount: whether we have a resource under the URI that one of it would be shown with. */
  ownUri(shown: string): string | undefined {
    return this.#own.isResource(shown) ? 'the compositor has a resource of its URI' : undefined
  }

  get #plain(): MountedServer<C> | undefined {
    for (const mount of this.#mounts.values()) if (mount.isPlain) return mount
    return undefined
  }

  #prefixed(name: string): MountedServer<C> | undefined {
    const mount = this.#mounts.get(name)
    return mount?.isPlain === true ? undefined : mount
  }

  #named(shown: string): MountTarget<C> | undefined {
    const read = readName(shown)
    const mount = read === undefined ? undefined : this.#prefixed(read.mount)
    if (read !== undefined && mount !== undefined) return { mount, name: read.name, shown }
    const plain = this.#plain
    return plain === undefined ? undefined : { mount: plain, name: shown, shown }
  }
}

/** What is not there, and what a mount is not to show: nobody hears which of the two. */
export function unknownName(kind: 'tool' | 'prompt', shown: string): RpcError {
  return new RpcError('invalid_params', `Unknown ${kind}: ${shown}`, { field: 'name' })
}
