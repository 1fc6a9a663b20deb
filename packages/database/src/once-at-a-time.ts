/**
 * Makes a look at something that changes: one at a time, and whoever asks while one is under way has it looked at once more. So no
 * change is missed, and many at once cost one look.
 */
export function onceAtATime(look: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let isLooking = false
  let again = false
  const run = async (): Promise<void> => {
    isLooking = true
    try {
      while (again) {
        again = false
        await look()
      }
    } catch (error) {
      failed(error)
    } finally {
      isLooking = false
    }
  }
  return () => {
    again = true
    if (!isLooking) void run()
  }
}
