export { WireError, type WireErrorCode } from './wire-error.ts'
