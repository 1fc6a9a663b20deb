export { decodeBase64, decodeZip } from './base64.ts'
export { type Source, blobSource, bufferSource } from './source.ts'
export { type TestsZip, openTestsZip, storeTests } from './tests-zip.ts'
export { type ZipField, ZipRefused, atField } from './zip-refused.ts'
