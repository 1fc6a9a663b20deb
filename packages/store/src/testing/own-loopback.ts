import { randomInt } from 'node:crypto'

/**
 * A loopback address that nobody else uses, so that a port on it can be looked for, let go of and taken again: on the common
 * one every connection of every other program may take it meanwhile. Only Linux has more than the one.
 */
export const ownLoopback = (): string =>
  process.platform === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}` : '127.0.0.1'
