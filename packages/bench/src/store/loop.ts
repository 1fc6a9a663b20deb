/** Times a loop in this process and prints the line that the harness waits for. */
export async function measureLoop(operations: number, run: () => void | Promise<void>): Promise<void> {
  const cpu = process.cpuUsage()
  const started = performance.now()
  await run()
  const seconds = (performance.now() - started) / 1000
  const used = process.cpuUsage(cpu)
  process.stdout.write(`RESULT ${JSON.stringify({ operations, seconds, cpuMs: (used.user + used.system) / 1000 })}\n`)
}
