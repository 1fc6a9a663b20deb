/** Counts the running test as skipped and says on stderr what was not tested and why. */
export function skipAloud(test: { skip(note: string): never }, what: string, why: string): never {
  process.stderr.write(`\n*** SKIPPED: ${why}\n*** What was NOT tested: ${what}.\n\n`)
  return test.skip(why)
}
