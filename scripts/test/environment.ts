import { delimiter, join } from 'node:path'

/**
 * Everything that runs below a command gets the right Node, also what calls `node` by name. The hundreds of processes that the
 * tests start keep what they compiled for the next one: without that, half of the time goes into reading the same files again.
 */
export function environment(root: string, scratch: string): NodeJS.ProcessEnv {
  const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`
  return { NODE_COMPILE_CACHE: join(scratch, 'compiled'), ...process.env, PATH }
}
