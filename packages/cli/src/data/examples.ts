import { fileURLToPath } from 'node:url'

/** Problems with statement, tests and script that come with the installation. */
export const EXAMPLES_FOLDER = fileURLToPath(new URL('../../../../examples/', import.meta.url))
