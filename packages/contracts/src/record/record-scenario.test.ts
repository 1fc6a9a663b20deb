import { recordsAgain } from './fixture/records-again.ts'

recordsAgain('0.166.0')
// The last version with an MCP server of its own.
recordsAgain('0.153.4')
