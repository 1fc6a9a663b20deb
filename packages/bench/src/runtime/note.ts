/** The one resource of the mount that subscribers are measured with, and the tool that changes it. */
export const NOTE_URI = 'note://only/one'
export const TOUCH_TOOL = 'touch'
