// Keeps a core busy until its standard input ends, as it does when whoever started it is gone.
const SLICE_MS = 50

process.stdin.on('close', () => process.exit()).resume()
spin()

function spin(): void {
  const until = performance.now() + SLICE_MS
  while (performance.now() < until);
  setImmediate(spin)
}
