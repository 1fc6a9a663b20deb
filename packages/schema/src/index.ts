export { migrate, MIGRATIONS, SCHEMA_VERSION, schemaVersion } from './migrate.ts'
