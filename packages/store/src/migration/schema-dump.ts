import { text } from '../database/column.ts'
import type { Database, Sql } from '../database/database.ts'

/** The schema as the engine itself describes it, in a stable order: what a migration changed shows as a difference. */
export async function schemaDump(db: Database): Promise<string> {
  const rows = await db.all(DUMP, [])
  return `${rows.map((row) => text(row, 'line')).join('\n')}\n`
}

const DUMP: Sql = {
  sqlite: `SELECT sql || ';' AS line FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name`,
  postgres: `
    SELECT line FROM (
      SELECT c.relname AS relation, 0 AS part, a.attnum AS position,
        format('%s.%s %s%s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
          CASE WHEN a.attcollation <> 0 AND n.collname <> 'default' THEN format(' COLLATE "%s"', n.collname) ELSE '' END,
          CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
          CASE WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END,
          CASE WHEN a.attidentity <> '' THEN ' IDENTITY' ELSE '' END) AS line
      FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN pg_collation n ON n.oid = a.attcollation
      WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
      UNION ALL
      SELECT c.relname, 1, 0, format('%s: %s %s', c.relname, k.conname, pg_get_constraintdef(k.oid))
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      WHERE k.contype IN ('p', 'u', 'f', 'c') AND c.relnamespace = current_schema()::regnamespace
      UNION ALL
      SELECT i.tablename, 2, 0, replace(i.indexdef, format(' ON %I.', i.schemaname), ' ON ')
      FROM pg_indexes i WHERE i.schemaname = current_schema()
    ) AS lines ORDER BY relation COLLATE "C", part, position, line COLLATE "C"`,
}
