/** What a server on a pipe needs to answer its first request, and nothing more. */
export { InputRequired, JsonText } from '../service.ts'
export { serveStdio, type StdioServerOptions } from './server.ts'
