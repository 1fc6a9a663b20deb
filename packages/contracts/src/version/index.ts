/** Which versions there are and what they serve, without the contracts themselves. */
export {
  type CodexVersion,
  NEWEST_KNOWN,
  OLDEST_SUPPORTED,
  SUPPORTED_RANGE,
  compareVersions,
  isWithin,
  knownVersion,
  parseVersion,
} from './version.ts'
export { SERVES, type Serves, type VersionSupport, servesOf, supportOf } from './version-support.ts'
export { type CodexFile, type Detected, type RunCodex, VersionDetector, detectVersion } from './version-detect.ts'
