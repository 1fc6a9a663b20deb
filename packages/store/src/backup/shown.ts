/** A text out of the file is shown by so much of it. */
const SHOWN_CHARS = 100

/** Texts that come from the file may hold what a terminal would act on. */
export const shown = (text: string): string => text.slice(0, SHOWN_CHARS).replaceAll(/\p{Cc}|\p{Cf}/gu, '\uFFFD')
