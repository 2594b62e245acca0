/** Runs a program inside the root filesystem of an image: read-only, as the user of the image, with nothing else. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { UnpackedImage } from './unpacked-image.ts'

const TIMEOUT_MS = 60_000

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

// A separate mount namespace, in which the root is read-only and /tmp and /proc are those of a container.
const SCRIPT = `
set -e
root=$1 user=$2
shift 2
mount --bind "$root" "$root"
mkdir -p "$root/proc"
mount -t proc proc "$root/proc"
mount -o remount,ro,bind "$root"
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
exec chroot --userspec="$user" "$root" "$@"
`

/** Why programs cannot be run this way here, or undefined. */
export function whyNotHere(): string | undefined {
  if (process.platform !== 'linux') return 'this needs Linux'
  return process.getuid?.() === 0 ? undefined : 'mount namespaces and chroot need root'
}

/** Runs a program of an image with arguments, to its end; by default its entry point. */
export async function runInRoot(
  { root, config }: UnpackedImage,
  args: readonly string[],
  program: readonly string[] = config.Entrypoint,
): Promise<Ended> {
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', SCRIPT, 'sh', root, config.User, ...program, ...args],
    {
      env: Object.fromEntries([
        ...config.Env.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
        // The programs before the chroot are those of this machine.
        ['PATH', `${process.env.PATH}:/usr/sbin:/sbin:/usr/local/bin`],
      ]),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    },
  )
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}
