export { ConfigTooLarge, isMissing, readConfig, syncFolder, writeConfig, writeSecret } from './config-file.ts'
export { type EnvironmentEntry, readEnvironments } from './environments.ts'
export {
  AUTH_STATUSES,
  type AuthStatusName,
  entryText,
  HTTP_HEADINGS,
  isServerName,
  listed,
  type McpServerEntry,
  rowOf,
  shown,
  STDIO_HEADINGS,
} from './mcp-server-entry.ts'
export { hasServer, type NamedServer, rawServer, readServers, withoutServer, withServer } from './mcp-servers.ts'
export { checkProvider, type ConfigFinding, type ProviderCheck, type ProviderRepair } from './provider-check.ts'
export { profileOf, readProfile, readUserConfig } from './read-profile.ts'
export { diffText, planRepair, type PlannedEdit } from './provider-repair.ts'
export { type Undone, undoRepair, writeRepair } from './repair-journal.ts'
export { setModel } from './set-model.ts'
export { parseToml, setTopLevel, TomlEditError } from './toml-edit.ts'
export type { TomlTable } from './toml-text.ts'
export { readOverrides } from './read-overrides.ts'
