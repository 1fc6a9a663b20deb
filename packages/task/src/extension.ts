import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol/wire'

/** How MCP's tasks extension is called in the capabilities of clients and servers. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** What a server that has tasks adds to its capabilities, and what a client that understands them says of itself. */
export const TASKS_CAPABILITY: JsonObject = { extensions: { [TASKS_EXTENSION]: {} } }

/** Whether capabilities, of either side, name the extension. */
export function offersTasks({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION])
}

/** What a client hears that asks for tasks, or calls what can only be one, and does not say that it understands them. */
export function tasksNotDeclared(what: string): RpcError {
  return new RpcError('missing_client_capability', `${what} needs the client to declare ${TASKS_EXTENSION}`, {
    requiredCapabilities: TASKS_CAPABILITY,
  })
}
