import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What is compiled once serves all tests of one user; locks keep judges of several tests apart. */
export const TEST_CACHE = join(tmpdir(), `parley-test-cache-${process.getuid?.() ?? 'user'}`)
