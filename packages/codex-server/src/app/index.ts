/** What `parley app-server` needs before its first conversation. */
export type { AppServerOptions } from './app-server-options.ts'
export { serveApp } from './serve-app.ts'
export { renderMethodTable } from './method-table.ts'
