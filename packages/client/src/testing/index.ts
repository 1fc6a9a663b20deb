export { type Cut, type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts'
