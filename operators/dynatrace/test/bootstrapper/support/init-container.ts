/** An init container as a process: directories as volumes, mounted where the webhook mounts them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

/** The end of a container. */
export interface Ended {
  readonly code: number | null
  /** JSON lines. */
  readonly log: string
}

/** Options of {@link InitContainer.start}. */
export interface StartOptions {
  /** Mount the agent read-only, as the CSI driver does. @default false */
  readonly isReadOnly?: boolean
  /** File of a cgroup that the container joins. @default none */
  readonly cgroup?: string
}

/** The volumes of a pod and the container that fills them. */
export interface InitContainer extends AsyncDisposable {
  /** The directories behind `/mnt/bin`, `/mnt/config`, `/mnt/input` and `/mnt/image`. */
  readonly bin: string
  readonly config: string
  readonly input: string
  /** Stands for the file system of an image of code modules. */
  readonly image: string
  start(command: readonly string[], options?: StartOptions): ChildProcess
  run(command: readonly string[], options?: StartOptions): Promise<Ended>
  /** Deletes what is in volumes. */
  clear(...volumes: readonly ('bin' | 'config')[]): Promise<void>
}

const SCRIPT = `
umask 022
if [ -n "$CGROUP" ]; then echo $$ > "$CGROUP" || exit 98; fi
exec unshare --map-root-user --mount sh -c '
  mount --bind "$VOLUMES" /mnt || exit 99
  if [ -n "$READ_ONLY" ]; then mount --bind /mnt/bin /mnt/bin && mount -o remount,bind,ro /mnt/bin || exit 99; fi
  unset VOLUMES READ_ONLY CGROUP
  exec "$0" "$@"' "$0" "$@"`

/** Why containers cannot be imitated on this machine; `undefined` if they can. */
export function missingIsolation(): string | undefined {
  const probe = spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '--bind', tmpdir(), '/mnt'])
  return probe.status === 0 ? undefined : 'needs unshare, with user and mount namespaces'
}

/** Makes the volumes, with these files below them. */
export async function initContainer(files: Readonly<Record<string, string>> = {}): Promise<InitContainer> {
  const folder = await mkdtemp(join(tmpdir(), 'init-container-'))
  const at = (name: string) => join(folder, name)
  for (const name of ['bin', 'config', 'input', 'image']) await mkdir(at(name))
  await writeFiles(folder, files)
  const start: InitContainer['start'] = (command, { isReadOnly = false, cgroup = '' } = {}) => {
    const [program = '', ...args] = command
    const env = {
      PATH: process.env.PATH,
      VOLUMES: folder,
      READ_ONLY: isReadOnly ? 'yes' : '',
      CGROUP: cgroup,
    }
    return spawn('sh', ['-c', SCRIPT, process.execPath, program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  return {
    bin: at('bin'),
    config: at('config'),
    input: at('input'),
    image: at('image'),
    start,
    async run(command, options) {
      const child = start(command, options)
      const [[code], log] = await Promise.all([once(child, 'exit'), child.stderr ? text(child.stderr) : ''])
      return { code, log }
    },
    async clear(...volumes) {
      for (const name of volumes) {
        await rm(at(name), { recursive: true, force: true })
        await mkdir(at(name))
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Writes files below a folder, by their paths. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}
