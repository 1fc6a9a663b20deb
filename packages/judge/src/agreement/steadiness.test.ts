import { steadiness } from './fixture/steadiness.ts'

steadiness(10)
