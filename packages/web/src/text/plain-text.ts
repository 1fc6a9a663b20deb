/** Escape sequences of terminals: colours, cursor movements, titles. */
// oxlint-disable-next-line eslint/no-control-regex
const ESCAPES = /\u001B(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\^_])/g
/** Other control characters, and those that turn text around so that it reads as something else. */
const CONTROLS = /[^\P{Cc}\n\t]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Text of others for the page: nothing in it is invisible or changes the order in which it is read. */
export function plainText(text: string): string {
  return text.replaceAll(ESCAPES, '').replaceAll('\r\n', '\n').replaceAll(CONTROLS, '')
}
