/** What a server on a pipe needs to answer its first request, and nothing more. */
export { JsonText } from '../message/text.ts'
export { InputRequired } from '../service.ts'
export { serveStdio, type StdioServerOptions } from './server.ts'
