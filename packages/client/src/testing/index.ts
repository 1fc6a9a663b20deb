export { type Cut, type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts'
export { openServer, quick } from './test-server.ts'
