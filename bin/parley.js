#!/usr/bin/env node
// The launcher. Plain JavaScript for any Node from 18 on: it finds the Node that came with the package and goes on there.
//
// How it goes on depends on what the old Node can do:
//  - it has process.execve (22.15, 23.11): the process is replaced. Same pid, same descriptors, nothing stays behind.
//  - it has not (18, 20, Windows): a child with our stdin, stdout and stderr, signals told, exit code passed back.
//    The child holds the other end of a pipe to us. When we are killed the pipe closes and the child ends itself.
import { spawn } from 'node:child_process'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import * as modules from 'node:module'
import { constants } from 'node:os'
import { Socket } from 'node:net'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { currentBundle } from './bundle.js'
import { findRuntime, isNewEnough, missingRuntime } from './runtime.js'

/** Set for the child: the descriptor that closes when the launcher is gone. */
const LIFELINE = 'PARLEY_LIFELINE_FD'
const LIFELINE_FD = 3
/** How long the child may take to shut down in order once its launcher is gone. */
const ORPHAN_GRACE_MS = 10_000
/** How often we look whether the shell of an npm script is still there. */
const PARENT_POLL_MS = 500
/** What was compiled is kept for the next start; a process that is killed has written it by then. */
const KEEP_COMPILED_MS = 2_000
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** What the launcher tells counts when it did not come to the child by itself within this time. */
const TOLD_MS = 250

const self = fileURLToPath(import.meta.url)
/** What makes a clone ready: npm looks for its package in the folder that it is called in. */
const INSTALL = `run npm run setup in ${dirname(dirname(self))}`
let isEnding = false

if (!isSomewhere()) {
  process.stderr.write('parley: the folder that you are in is gone (cd to one that is there)\n')
  process.exitCode = 2
} else if (isNewEnough()) await run()
else relaunch()

/** Paths are meant from the folder that we are in. It may have been deleted, or be one that we may not look at. */
function isSomewhere() {
  try {
    process.cwd()
    return true
  } catch {
    return false
  }
}

async function run() {
  holdLifeline()
  watchScriptShell()
  keepCompiled()
  const bundle = currentBundle(dirname(dirname(self)))
  const { main } = await (
    bundle === undefined ? import('../packages/cli/src/main.ts') : import(pathToFileURL(bundle).href)
  ).catch(withoutPackages)
  process.exitCode = await main(process.argv.slice(2))
}

/** A clone that nothing was installed in yet finds not even its own rooms. */
function withoutPackages(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  process.stderr.write(`parley: its packages are not installed yet (${INSTALL})\n`)
  process.exit(1)
}

/** A start takes half the time when nothing has to be compiled. Where nothing can be kept, nothing is lost. */
function keepCompiled() {
  const { PARLEY_CACHE, PARLEY_CACHE_DIR, XDG_CACHE_HOME: cache, HOME: home } = process.env
  const named = PARLEY_CACHE || PARLEY_CACHE_DIR
  // What lies there is run: a relative path would lead into the folder that we are called in, which may be anybody's.
  const folder = named
    ? resolve(named)
    : cache && isAbsolute(cache)
      ? join(cache, 'parley')
      : home && isAbsolute(home)
        ? join(home, '.cache', 'parley')
        : undefined
  if (folder === undefined || modules.enableCompileCache === undefined) return
  const compiled = join(folder, 'compiled')
  if (![dirname(folder), folder, compiled].every(isFolder) || !isOurs(compiled)) return
  modules.enableCompileCache(compiled)
  setTimeout(() => modules.flushCompileCache(), KEEP_COMPILED_MS).unref()
}

/** Made one by one: Node never comes back from making a path below a folder that takes none, such as /proc. */
function isFolder(path) {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    return error.code === 'EEXIST'
  }
}

/** Whoever can write there, or put another folder in its place, can make us run anything. */
function isOurs(path) {
  if (process.platform === 'win32') return true
  try {
    for (let at = realpathSync(path); ; at = dirname(at)) {
      if (!isHeld(lstatSync(at))) return false
      if (at === dirname(at)) return true
    }
  } catch {
    return false
  }
}

/** The folder is ours or root's, and nobody else can write there: in one like /tmp nobody moves what is not theirs. */
function isHeld({ uid, gid, mode }) {
  if (uid !== process.getuid() && uid !== 0) return false
  if ((mode & 0o1000) !== 0) return true
  return (mode & 0o002) === 0 && ((mode & 0o020) === 0 || gid === 0 || gid === process.getgid())
}

function holdLifeline() {
  const fd = Number(process.env[LIFELINE])
  delete process.env[LIFELINE]
  if (fd !== LIFELINE_FD) return
  const lifeline = new Socket({ fd, readable: true, writable: false })
  lifeline.unref()
  lifeline.on('error', () => undefined)
  lifeline.on('close', endInOrder)
  takeTold(lifeline)
}

/**
 * A signal to the group (a terminal's Ctrl-C, systemd) reaches the launcher and us, one to the launcher's pid the launcher alone. A second
 * one means "at once", so each must count once: the launcher tells what it got, and we send ourselves only what did not come.
 */
function takeTold(lifeline) {
  const came = new Map()
  const told = new Map()
  for (const signal of FORWARDED) {
    const count = () => {
      came.set(signal, (came.get(signal) ?? 0) + 1)
      if (process.listenerCount(signal) > 1) return
      // Nobody else listens: it ends us, as it would if we did not count.
      process.off(signal, count)
      process.kill(process.pid, signal)
    }
    process.on(signal, count)
  }
  let text = ''
  lifeline.setEncoding('utf8').on('data', (chunk) => {
    const lines = `${text}${chunk}`.split('\n')
    text = lines.pop()
    for (const signal of lines) {
      if (!FORWARDED.includes(signal)) continue
      told.set(signal, (told.get(signal) ?? 0) + 1)
      setTimeout(() => {
        if ((came.get(signal) ?? 0) < told.get(signal)) process.kill(process.pid, signal)
      }, TOLD_MS)
    }
  })
}

/** npm runs a script in a shell, and a signal to npm ends that shell without reaching us: `npm start` must not leave us behind. */
function watchScriptShell() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    endInOrder()
  }, PARENT_POLL_MS)
  watch.unref()
}

/** The launcher and the shell of npm may go together, and a second signal would mean "at once". */
function endInOrder() {
  if (isEnding) return
  isEnding = true
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORPHAN_GRACE_MS).unref()
  process.kill(process.pid, 'SIGTERM')
}

function relaunch() {
  const runtime = findRuntime(self)
  if (runtime === undefined) {
    process.stderr.write(`${missingRuntime(INSTALL)}\n`)
    process.exitCode = 1
    return
  }
  const argv = [self, ...process.argv.slice(2)]
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.removeAllListeners('warning')
    process.execve(runtime, [runtime, ...argv], process.env)
  }
  const child = spawn(runtime, argv, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [LIFELINE]: String(LIFELINE_FD) },
  })
  tellSignals(child)
  child.on('error', (error) => {
    process.stderr.write(`cannot run ${runtime}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
  })
}

/** It is told, not sent: the child may have got it too. */
function tellSignals(child) {
  const lifeline = child.stdio[LIFELINE_FD]
  lifeline.on('error', () => undefined)
  for (const signal of FORWARDED) process.on(signal, () => void lifeline.write(`${signal}\n`))
}
