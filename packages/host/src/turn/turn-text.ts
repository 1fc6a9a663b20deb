/** For a model whose host died or was ended before it had answered. */
export const CONTINUE_TEXT =
  'Your work on the last message was interrupted by a restart. A call that was under way has no output, and what it did so far may have taken effect. Go on where you stood.'

/** For an engine that cannot read what the one before it remembered. */
export const takenOverText = (talk: string): string =>
  `You take over from another engine. This was said so far, the newest last:\n\n${talk}\n\nWhat follows is new.`
