/** Waits for something, but not for longer than that. Rejects where it does. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  // Nobody hears of a failure that comes after we left.
  work.catch(() => undefined)
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
