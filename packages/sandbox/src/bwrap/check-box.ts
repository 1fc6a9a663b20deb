import { type Sandbox, SandboxUnavailable } from '../sandbox.ts'
import { PROBE_LIMITS } from '../cage/probe-limits.ts'

/**
 * Tries what must fail, each line that comes back is something that did not. There is no compiler to make a probe with: it is a shell's.
 * Opened for appending and not written to, a setting stays as it is; a device gets the mode that it has.
 */
const PROBE = `user=$(id -u)
[ "$user" != 0 ] || echo 'that it is root'
[ -r /proc/self/uid_map ] || echo 'no map of users'
while read -r inside outside count; do
  [ "$user" -ge "$inside" ] && [ $((user - inside)) -lt "$count" ] && [ $((outside + user - inside)) = 0 ] && echo 'that it is root outside'
done < /proc/self/uid_map
for setting in /proc/sys/kernel/core_pattern /proc/sys/fs/lease-break-time /proc/sysrq-trigger; do
  (: >> "$setting") && echo 'a way to write settings of the machine'
done
grep -q '^CapPrm:[[:space:]]*0*$' /proc/self/status && grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status || echo rights
grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status || echo 'a way to new rights'
for place in /etc/shadow /etc/ssh /var/lib /root /home; do [ -e "$place" ] && echo 'files of the host'; done
for place in / /usr /etc /dev; do (: > "$place/parley-probe-$$") && rm "$place/parley-probe-$$" && echo 'a root that can be written'; done
for device in /dev/null /dev/zero /dev/full /dev/random /dev/urandom; do
  chmod "$(stat -c %a "$device")" "$device" && echo 'a way to change a device of the host'
done
grep -v -e '|' -e '^ *lo:' /proc/net/dev && echo 'a network'
[ "$(echo /proc/[0-9]* | wc -w)" -lt 8 ] || echo 'other processes'
(: > /tmp/x && : > x && cat /dev/null) || echo 'a box that cannot be used'
echo probed`
const HINT = 'run as root or allow user namespaces; a C compiler lets the `cage` driver be used instead'

/** Throws unless a box of this sandbox holds what is said of it, found out by running a probe in one. */
export async function checkBox(sandbox: Sandbox): Promise<void> {
  await using box = await sandbox.openBox({ kind: 'judge' })
  const shell = ['--noprofile', '--norc', '-c', `exec 2>/dev/null\n${PROBE}`]
  const outcome = await box.run({ argv: ['/bin/bash', ...shell], limits: PROBE_LIMITS })
  const lines = Buffer.from(outcome.stdout.bytes).toString().trim().split('\n')
  if (lines.pop() !== 'probed') {
    const said = Buffer.from(outcome.stderr.bytes).toString().trim()
    throw new SandboxUnavailable(
      `bubblewrap does not work here: ${said === '' ? (outcome.message ?? outcome.status) : said}`,
      HINT,
    )
  }
  if (lines.length === 0) return
  throw new SandboxUnavailable(`bubblewrap does not hold here: inside, the probe saw ${[...new Set(lines)].join(', ')}`, HINT)
}
