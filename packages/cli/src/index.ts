export { main } from './main.ts'
export { SETTINGS, type SettingName, type Settings, type SettingSpec } from './config/setting.ts'
export { type CommandSpec, type OptionSpec } from './command-line/command.ts'
export { COMMANDS } from './commands/table.ts'
