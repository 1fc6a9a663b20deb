import { expect, test } from 'vitest'
import { type Scratch, openScratch } from '../testing/scratch.ts'
import { checkArrows } from './arrows.ts'

const ROOMS = {
  scope: '@parley',
  rooms: [
    { name: 'ground', imports: [], does: 'the ground' },
    { name: 'wires', imports: ['ground'], does: 'the wires' },
    { name: 'page', imports: ['ground', 'wires/browser'], does: 'the page' },
    { name: 'root', imports: ['ground', 'wires'], does: 'the root' },
    { name: 'later', planned: true, imports: [], does: 'not yet' },
    { name: 'measure', exempt: true, imports: ['ground', 'wires', 'root'], does: 'measures' },
  ],
  owners: {
    imports: { 'node:http': ['wires'], 'node:child_process': [], pg: ['ground'] },
    harmless: { 'node:http': ['STATUS_CODES'] },
    globals: { 'process.env': ['root'] },
  },
}

/** A tree in which all is well: every room exists and declares what it may import. */
function openTree(): Scratch {
  const manifest = (
    name: string,
    dependencies: Readonly<Record<string, string>>,
    exports: object = { '.': './src/index.ts' },
  ) => ({
    name: `@parley/${name}`,
    exports,
    dependencies,
  })
  return openScratch({
    'rooms.json': ROOMS,
    'package.json': { name: 'tree', devDependencies: { vitest: '1' } },
    'packages/ground/package.json': manifest('ground', { pg: '1' }),
    'packages/wires/package.json': manifest(
      'wires',
      { '@parley/ground': '1' },
      { '.': './src/index.ts', './browser': './src/browser.ts' },
    ),
    'packages/page/package.json': manifest('page', { '@parley/ground': '1', '@parley/wires': '1' }),
    'packages/root/package.json': manifest('root', { '@parley/ground': '1', '@parley/wires': '1' }),
    'packages/measure/package.json': manifest('measure', { '@parley/root': '1' }),
    'packages/ground/src/index.ts': `import pg from 'pg'\nexport const ground = pg\n`,
    'packages/wires/src/index.ts': `import { createServer } from 'node:http'\nimport { ground } from '@parley/ground'\nexport { createServer, ground }\n`,
    'packages/page/src/index.ts': `import { wires } from '@parley/wires/browser'\nexport { ground } from '@parley/ground'\nexport { wires }\n`,
    'packages/root/src/index.ts': `import { wires } from '@parley/wires'\nimport { ground } from '@parley/ground'\nexport const env = [wires, ground, process.env['HOME']]\n`,
  })
}

test('a tree that keeps to its arrows has nothing to complain about', () => {
  using tree = openTree()
  expect(checkArrows(tree.root)).toEqual([])
})

test.each([
  ['an arrow that is not there', 'ground', `import '@parley/wires'`, 'ground may not import wires; it may import no room'],
  [
    'the same arrow for a type',
    'ground',
    `import type { A } from '@parley/wires'`,
    'ground may not import wires; it may import no room',
  ],
  [
    'the same arrow in a type expression',
    'ground',
    `export type A = import('@parley/wires').A`,
    'ground may not import wires; it may import no room',
  ],
  [
    'the same arrow by import()',
    'ground',
    `export const a = import('@parley/wires')`,
    'ground may not import wires; it may import no room',
  ],
  [
    'the same arrow by export from',
    'ground',
    `export * from '@parley/wires'`,
    'ground may not import wires; it may import no room',
  ],
  [
    'another entry than the allowed one',
    'page',
    `import '@parley/wires'`,
    'page may not import wires; it may import ground, wires/browser',
  ],
  [
    'the inside of a room',
    'wires',
    `import '@parley/ground/src/index.ts'`,
    '@parley/ground/src/index.ts is not among the exports of ground',
  ],
  [
    'a path out of the room',
    'wires',
    `import '../../ground/src/index.ts'`,
    '../../ground/src/index.ts leaves the room; import its public name',
  ],
  ['a room that does not exist yet', 'wires', `import '@parley/later'`, '@parley/later is no room that exists'],
  ['a room that nobody knows', 'wires', `import '@parley/nowhere'`, '@parley/nowhere is no room that exists'],
  ['itself by name', 'wires', `import '@parley/wires'`, 'a room does not import itself by name; use a relative path'],
  [
    'an allowed room that it did not declare',
    'measure',
    `import '@parley/ground'`,
    '@parley/ground is not among the dependencies of @parley/measure',
  ],
  ['a package that it did not declare', 'wires', `import 'left-pad'`, 'left-pad is not among the dependencies of @parley/wires'],
  ['a test tool in what ships', 'wires', `import 'vitest'`, 'vitest is not among the dependencies of @parley/wires'],
  [
    'a module that another room owns',
    'root',
    `import { createServer } from 'node:http'`,
    'node:http belongs to wires; take what you need as a port',
  ],
  [
    'the same by require()',
    'root',
    `export const a = require('node:http')`,
    'node:http belongs to wires; take what you need as a port',
  ],
  ['the same without its prefix', 'root', `import 'http'`, 'node:http belongs to wires; take what you need as a port'],
  [
    'a module that nobody owns',
    'wires',
    `import 'node:child_process'`,
    'node:child_process belongs to nobody; take what you need as a port',
  ],
  ['the environment', 'wires', `export const a = process.env['HOME']`, 'process.env belongs to root; take it as an argument'],
  [
    'the environment, taken apart',
    'wires',
    `export const { env } = process`,
    'process.env belongs to root; take it as an argument',
  ],
  [
    'a computed name',
    'wires',
    `export const a = (name: string) => import(name)`,
    'an import whose name is computed cannot be checked; write it out',
  ],
  ['a script', 'wires', `import '../../../scripts/tool.ts'`, '../../../scripts/tool.ts leaves the room; import its public name'],
  ['a builtin without its prefix', 'wires', `import 'fs'`, 'write node:fs'],
])('%s is refused', (_, room, source, complaint) => {
  using tree = openTree()
  tree.write(`packages/${room}/src/bad.ts`, `\n${source}\n`)
  expect(checkArrows(tree.root)).toEqual([`packages/${room}/src/bad.ts:2 ${complaint}`])
})

test.each([
  ['types of a module that another room owns', 'root/src/fine.ts', `import type { Server } from 'node:http'`],
  ['names of it that open nothing', 'root/src/fine.ts', `import { STATUS_CODES } from 'node:http'`],
  [
    'an owned module in a test',
    'root/src/fine.test.ts',
    `import { createServer } from 'node:http'\nimport { test } from 'vitest'`,
  ],
  ['an owned module in src/testing', 'root/src/testing/fine.ts', `import { spawn } from 'node:child_process'`],
  [
    'an owned module where one measures',
    'measure/src/fine.ts',
    `import { spawn } from 'node:child_process'\nexport const a = process.env`,
  ],
  ['a script in a test', 'wires/src/fine.test.ts', `import '../../../scripts/tool.ts'`],
  ['a word in a text', 'wires/src/fine.ts', `export const a = "import 'pg'; process.env"`],
])('%s may be used', (_, path, source) => {
  using tree = openTree()
  tree.write(`packages/${path}`, source)
  expect(checkArrows(tree.root)).toEqual([])
})

test('a room that is there for tests may be imported by tests and fixtures, and by nothing that ships', () => {
  using tree = openTree()
  const beside = { name: 'beside', imports: [], tests: ['wires'], does: 'beside the wires' }
  tree.write('rooms.json', { ...ROOMS, rooms: [...ROOMS.rooms, beside] })
  tree.write('packages/beside/package.json', { name: '@parley/beside', devDependencies: { '@parley/wires': '1' } })
  for (const path of ['a.test.ts', 'fixture/a.ts', 'testing/a.ts', 'a.ts'])
    tree.write(`packages/beside/src/${path}`, `import '@parley/wires'`)
  expect(checkArrows(tree.root)).toEqual(['packages/beside/src/a.ts:1 beside may not import wires; it may import no room'])
})

test('what is put into a box as it is owns what it reaches there', () => {
  using tree = openTree()
  const program = `import 'node:child_process'\nexport const words = process.env`
  tree.write('packages/ground/program/a.ts', program)
  expect(checkArrows(tree.root)).toEqual([])
  tree.write('packages/ground/src/a.ts', program)
  expect(checkArrows(tree.root)).toHaveLength(2)
})

test('scripts import rooms by name, not by path', () => {
  using tree = openTree()
  tree.write('scripts/bad.ts', `import '../packages/ground/src/index.ts'\nimport '@parley/ground'\n`)
  expect(checkArrows(tree.root)).toEqual([
    'scripts/bad.ts:1 ../packages/ground/src/index.ts reaches into a room; import its public name',
  ])
})

test('folders and the data file agree', () => {
  using tree = openTree()
  tree.write('packages/later/package.json', { name: '@parley/later' })
  tree.write('packages/stray/package.json', { name: '@parley/stray' })
  tree.write('packages/ground/package.json', {
    name: '@parley/ground',
    exports: { '.': '' },
    dependencies: { pg: '1', '@parley/wires': '1' },
  })
  expect(checkArrows(tree.root)).toEqual([
    'packages/ground/package.json: ground may not depend on wires',
    'rooms.json: later exists, so it is no longer planned',
    'packages/stray/package.json: stray is not in rooms.json',
  ])
})

test('arrows in a circle are refused when the file is read', () => {
  using tree = openTree()
  const [ground, wires, ...rest] = ROOMS.rooms
  tree.write('rooms.json', { ...ROOMS, rooms: [{ ...ground, imports: ['wires'] }, wires, ...rest] })
  expect(() => checkArrows(tree.root)).toThrow('rooms.json: ground imports wires, which does not stand before it')
})

test('an arrow that nothing goes along is taken away, and so is an owner that does not use what it owns', () => {
  using tree = openTree()
  tree.write('packages/page/src/index.ts', `import { wires } from '@parley/wires/browser'\nexport { wires }\n`)
  tree.write('packages/wires/src/index.ts', `import type { Server } from '@parley/ground'\nexport type { Server }\n`)
  expect(checkArrows(tree.root)).toEqual([
    'rooms.json: nothing in page imports ground',
    'rooms.json: node:http belongs to wires, which does not use it',
  ])
})
