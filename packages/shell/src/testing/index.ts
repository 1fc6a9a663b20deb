export { caseItems } from './case-items.ts'
export { screenAfter } from './screen-after.ts'
