/** What the program in an image of code modules does on a node: copies the agent, a file at a time. */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '@reeve/http'
import { type Pod, Pods, type Stored } from '@reeve/kube'
import type { OutsidePlace } from '@reeve/simulation'
import { DATA_ROOT } from '../../src/csi/names.ts'

/** The version of the agent in every image that Jobs copy from. */
export const AGENT_VERSION = '1.500.0.20300101-000000'

/** The name of a file in an agent that says which image it is from, as `codemodules` encodes it. */
export const ORIGIN = /^image-(.*)$/

const filesOf = (image: string): Readonly<Record<string, string>> => ({
  'agent/installer.version': AGENT_VERSION,
  'agent/conf/ruxitagentproc.conf': 'settings',
  'agent/lib64/liboneagentproc.so': 'library',
  [`agent/bin/${AGENT_VERSION}/liboneagentjava.so`]: 'library',
  [`agent/image-${Buffer.from(image).toString('base64')}`]: '',
})

/** A pod runs for half a second. */
const STEP_MS = 80

/** Pods of Jobs on simulated nodes run no program; this is what theirs would do to the disk. */
export class DownloadPods {
  readonly #place: Pick<OutsidePlace, 'client' | 'clock'>
  readonly #root: string
  readonly #onChange: (paths: readonly string[]) => void
  /** Pods that exist, by uid. */
  readonly #existing = new Set<string>()
  readonly #started = new Set<string>()

  /** @param root the data directory */
  constructor(
    place: Pick<OutsidePlace, 'client' | 'clock'>,
    root: string,
    onChange: (paths: readonly string[]) => void,
  ) {
    this.#place = place
    this.#root = root
    this.#onChange = onChange
  }

  /** Begins to watch pods; ends with the world. */
  follow(): void {
    void this.#follow(this.#place.clock)
  }

  /** Reconnects when the server ends a stream; one that ends immediately has ended with its world. */
  async #follow(clock: Clock): Promise<void> {
    for (let startedMs = Number.NaN; startedMs !== clock.now(); ) {
      startedMs = clock.now()
      try {
        for await (const { type, object } of this.#place.client.watch(Pods)) {
          if (type === 'BOOKMARK') continue
          if (type === 'DELETED') this.#existing.delete(object.metadata.uid)
          else this.#see(object)
        }
      } catch {
        // A broken stream is opened again, like one that has ended.
      }
    }
  }

  #see({ metadata: { uid }, spec, status }: Stored<Pod>): void {
    this.#existing.add(uid)
    const [container] = spec?.containers ?? []
    if (container?.name !== 'codemodule-download' || status?.phase !== 'Running' || this.#started.has(uid)) return
    this.#started.add(uid)
    const option = (name: string) =>
      container.args?.find((arg) => arg.startsWith(`--${name}=`))?.replace(`--${name}=${DATA_ROOT}`, this.#root) ?? ''
    const copy = { files: filesOf(container.image ?? ''), target: option('target'), work: option('work') }
    this.#run(uid, stepsOf(copy, this.#place.clock), [copy.work, copy.target])
  }

  /** A step at a time, until the pod is gone. */
  #run(uid: string, [step, ...others]: readonly (() => void)[], paths: readonly string[]): void {
    if (step === undefined || !this.#existing.has(uid)) return
    try {
      step()
    } catch {
      // The program fails, for example because its directory was deleted.
      return
    } finally {
      this.#onChange(paths)
    }
    this.#place.clock.schedule(STEP_MS, () => this.#run(uid, others, paths))
  }
}

interface Copy {
  readonly files: Readonly<Record<string, string>>
  readonly target: string
  readonly work: string
}

function stepsOf({ files, target, work }: Copy, clock: Clock): readonly (() => void)[] {
  const nowS = () => clock.now() / 1_000
  return [
    () => {
      rmSync(work, { recursive: true, force: true })
      mkdirSync(work, { recursive: true })
      utimesSync(work, nowS(), nowS())
    },
    ...Object.entries(files).map(([path, content]) => () => {
      // As a program does that makes the directories of each file: a directory that was deleted comes back.
      mkdirSync(dirname(join(work, path)), { recursive: true })
      writeFileSync(join(work, path), content)
    }),
    () => {
      renameSync(work, target)
      const link = join(target, 'agent/bin/current')
      if (!existsSync(link)) symlinkSync(AGENT_VERSION, link)
    },
  ]
}
