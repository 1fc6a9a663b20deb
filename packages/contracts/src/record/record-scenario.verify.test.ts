import { recordsAgain } from './fixture/records-again.ts'

recordsAgain('0.42.0')
recordsAgain('0.44.0')
