/** Whether it settled in time. What it settled with is lost either way. */
export async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timeUp = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => timeUp.resolve(false), limitMs)
  try {
    return await Promise.race([
      work.then(
        () => true,
        () => true,
      ),
      timeUp.promise,
    ])
  } finally {
    clearTimeout(timer)
  }
}
