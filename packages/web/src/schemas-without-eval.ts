import * as z from 'zod'

// Must run before any schema is made: otherwise the first one tries `new Function`, and the page's policy reports that.
z.config({ jitless: true })
