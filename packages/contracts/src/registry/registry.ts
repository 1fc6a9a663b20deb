import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseJson } from '@parley/protocol'
import type * as z from 'zod'
import {
  type ContractName,
  DeclaredContract,
  type Difference,
  Differences,
  NAMES,
  OBSERVED_VERSIONS,
  ObservedContract,
  type ObservedVersion,
} from './registry-types.ts'
import { type CodexVersion, compareReleases, knownVersion } from '../version/version.ts'
import { servesOf } from '../version/version-support.ts'

/** Where the data is: beside the sources, also in an installed package. */
const FOLDER = new URL('../../contracts/', import.meta.url)

/** A file of the registry that is missing or is not in its format. The installation is broken: install it again. */
export class RegistryBroken extends Error {
  readonly code = 'registry_broken'
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RegistryBroken'
  }
}

/** The version whose recordings stand for another one. */
export interface Basis {
  readonly version: ObservedVersion
  /** Whether it is that very version. */
  readonly exact: boolean
}

/** The contracts, read from their files when they are first asked for. */
export class Registry {
  readonly #folder: URL
  readonly #declared = new Map<string, DeclaredContract>()
  readonly #observed = new Map<string, ObservedContract>()
  readonly #differences = new Map<string, readonly Difference[]>()

  constructor(folder: URL = FOLDER) {
    this.#folder = folder
  }

  get folder(): string {
    return fileURLToPath(this.#folder)
  }

  get names(): readonly ContractName[] {
    return NAMES
  }

  /** The contract of a method as it is called on the wire; `codex/event/<type>` belongs to `codex/event`. */
  find(method: string): ContractName | undefined {
    if (method === 'codex/event' || method.startsWith('codex/event/')) return 'codex-event'
    return NAMES.find((name) => name === method)
  }

  declared(name: ContractName): DeclaredContract {
    return this.#load(`${name}.schema.json`, DeclaredContract, this.#declared)
  }

  observed(name: ContractName, version: ObservedVersion): ObservedContract {
    return this.#load(`observed/${version}/${name}.schema.json`, ObservedContract, this.#observed)
  }

  /** Where declared and observed part, for one method. */
  differences(name: ContractName): readonly Difference[] {
    return this.#allDifferences.filter(({ method }) => this.find(method) === name)
  }

  /** The same for all methods at once: the server, the envelope, the handshake. */
  get generalDifferences(): readonly Difference[] {
    return this.#allDifferences.filter(({ method }) => method === '*')
  }

  get #allDifferences(): readonly Difference[] {
    return this.#load('differences.json', Differences, this.#differences)
  }

  #load<T>(path: string, schema: z.ZodType<T>, kept: Map<string, T>): T {
    const known = kept.get(path)
    if (known !== undefined) return known
    let text: string
    try {
      text = readFileSync(new URL(path, this.#folder), 'utf8')
    } catch (error) {
      throw new RegistryBroken(`contracts/${path} cannot be read`, error)
    }
    const parsed = schema.safeParse(parseJson(text))
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new RegistryBroken(`contracts/${path} is not in its format: ${issue?.path.join('.')}: ${issue?.message}`)
    }
    kept.set(path, parsed.data)
    return parsed.data
  }
}

/** The registry of this installation. */
export const registry = new Registry()

/**
 * The recorded version that stands for this one: of those that speak the same dialect the nearest older one, else the
 * nearest newer one. Undefined for versions that are not supported.
 */
export function basisOf(version: CodexVersion): Basis | undefined {
  const bridge = servesOf(version)?.bridge
  if (bridge === undefined) return undefined
  const same = OBSERVED_VERSIONS.filter((text) => servesOf(knownVersion(text))?.bridge === bridge)
  const older = same.filter((text) => compareReleases(knownVersion(text), version) <= 0)
  const found = older.at(-1) ?? same[0]
  return found === undefined ? undefined : { version: found, exact: found === version.text }
}
