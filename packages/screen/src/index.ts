export { type Cell, columns, named, prose } from './columns.ts'
export { broken, fit, plainLines, plainText, widthOf, wrap } from './plain-text.ts'
export { NO_SCREEN, type Paint, type Screen, type Style, bar, painterFor, verdictStyle } from './screen.ts'
export { agoText, leftText, secondText, timeText, zoneFormat } from './time-text.ts'
