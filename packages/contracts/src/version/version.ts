/** A version of Codex. A prerelease is ordered before its release, as Semantic Versioning has it. */
export interface CodexVersion {
  /** `0.167.0-alpha.3` */
  readonly text: string
  readonly release: readonly [major: number, minor: number, patch: number]
  readonly prerelease: readonly string[]
}

/** The oldest Codex that is spoken to. */
export const OLDEST_SUPPORTED = '0.42.0'
/** The newest Codex whose wire was recorded; a newer one is tried, and said to be unknown. */
export const NEWEST_KNOWN = '0.166.0'
/** What people are told when their Codex is too old. */
export const SUPPORTED_RANGE = `${OLDEST_SUPPORTED} and newer (recorded up to ${NEWEST_KNOWN})`

/** Names before a version: `codex-cli 0.42.0`, `Codex CLI v0.44.0`, `codex 0.44.0`. */
const VERSION =
  /^(?:(?:codex(?:[- ]cli)?|codex-(?:mcp|app)-server)\s+)?v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?(?:\+[0-9a-z.-]+)?$/i
/** A line that holds a version is short; nothing longer is searched. */
const LINE_CHARACTERS = 200

/** Reads `0.44`, `v0.44.0`, `codex-cli 0.167.0-alpha.3` and what `codex --version` prints around it. */
export function parseVersion(text: string): CodexVersion | undefined {
  for (const line of text.slice(0, 64 * LINE_CHARACTERS).split('\n')) {
    const match = line.length > LINE_CHARACTERS ? null : VERSION.exec(line.trim())
    if (match === null) continue
    const [, major, minor, patch = '0', prerelease] = match
    const release = [Number(major), Number(minor), Number(patch)] as const
    const text = `${release.join('.')}${prerelease === undefined ? '' : `-${prerelease}`}`
    return { text, release, prerelease: prerelease === undefined ? [] : prerelease.split('.') }
  }
  return undefined
}

/** Negative when the first is older. */
export function compareVersions(one: CodexVersion, other: CodexVersion): number {
  return compareReleases(one, other) || comparePrereleases(one.prerelease, other.prerelease)
}

/** The same without prereleases: a prerelease counts as the release that it prepares, whose wire it has. */
export function compareReleases(one: CodexVersion, other: CodexVersion): number {
  for (const [index, part] of one.release.entries()) {
    const difference = part - (other.release[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Whether a version lies between two others, both included; null is no bound. A last bound without a patch (`0.107`) holds its patches. */
export function isWithin(version: CodexVersion, first: string | null, last: string | null): boolean {
  if (first !== null && compareReleases(version, knownVersion(first)) < 0) return false
  if (last === null) return true
  const bound = /^\d+\.\d+(\.x)?$/.test(last) ? `${last.replace('.x', '')}.999999999` : last
  return compareReleases(version, knownVersion(bound)) <= 0
}

/** For versions written in our own tables. */
export function knownVersion(text: string): CodexVersion {
  const version = parseVersion(text)
  if (version === undefined) throw new TypeError(`${JSON.stringify(text)} is no version`)
  return version
}

function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [left, right] = [one[index], other[index]]
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1
    const difference = compareIdentifiers(left, right)
    if (difference !== 0) return difference
  }
  return 0
}

/** Numbers by value and before words. */
function compareIdentifiers(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)]
  if (leftIsNumber && rightIsNumber) return Number(left) - Number(right)
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1
  return left < right ? -1 : left > right ? 1 : 0
}
