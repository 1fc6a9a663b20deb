export { FolderWatch } from './folder-watch.ts'
export { openServiceSocket, type ServiceSocket, shortSocketPath } from './service-socket.ts'
export { removeTree } from './remove-tree.ts'
export { type HeldNames, type SandboxCommands, openSandboxCommands } from './sandbox-commands.ts'
