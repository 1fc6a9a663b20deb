import { spawn } from 'node:child_process'

/** Node's own spawn of a command, input and output by pipe, to its end. */
export function bareSpawn(command: readonly string[], input: string): Promise<string> {
  const [program = '', ...words] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'], env: {} })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}`))))
    // A program need not read it.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
