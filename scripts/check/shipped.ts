import { isScript, isTest } from './files.ts'

/** Folders whose content serves tests: `testing` is for those of other rooms too, `fixture` for the tests beside it. */
const OF_TESTS = /(^|\/)(testing|fixture)\//
/** What a program wrote from data. */
const GENERATED = /(^|\/)generated\//

/** Whether people wrote it and it runs at somebody's: no test, nothing that only tests use, nothing generated. */
export const isProduct = (path: string): boolean =>
  isScript(path) && !isTest(path) && !OF_TESTS.test(path) && !GENERATED.test(path)
