import { fileURLToPath } from 'node:url'

/** The program that people and our own processes start. */
export const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))
