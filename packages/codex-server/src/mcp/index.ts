/** What `parley mcp-server` needs before its first tool call, and nothing more. */
export { mcpServer, type McpServer } from './mcp-server.ts'
export type { McpServerOptions } from './mcp-server-options.ts'
