/** Killed at any time and restarted, an init container leaves the same files as an undisturbed one. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { listing } from '@reeve/archives/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BootstrapperBundle, bundleBootstrapper } from './support/bootstrapper-bundle.ts'
import { type InitContainer, initContainer, missingIsolation } from './support/init-container.ts'
import { AGENT, AGENT_ARGS, INPUT, METADATA_ARGS, podArgs } from './support/pod.ts'
import { type DownloadTenant, downloadTenant } from './support/tenant-volume.ts'

const MOMENTS = 50
const SEED = 20_260_101

let bundle: BootstrapperBundle
let tenant: DownloadTenant
beforeAll(async () => {
  ;[bundle, tenant] = await Promise.all([bundleBootstrapper(), downloadTenant(1024 ** 2)])
})
afterAll(async () => {
  await bundle[Symbol.asyncDispose]()
  await tenant[Symbol.asyncDispose]()
})

/** Numbers from 0 to 1, the same in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))

const result = async ({ bin, config }: InitContainer) => ({ bin: await listing(bin), config: await listing(config) })

/** Every file that has its final name is complete at any time. */
function expectWhole(found: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(found)) {
    if (path.split('/').some((name) => name.startsWith('.') || name === 'work') || content.endsWith(' /')) continue
    expect([path, content]).toEqual([path, whole[path]])
  }
}

describe.skipIf(missingIsolation())(
  `an init container killed at ${MOMENTS} random moments (skipped without user and mount namespaces)`,
  () => {
    const modes: readonly (readonly [
      string,
      () => Readonly<Record<string, string>>,
      () => readonly string[],
      boolean,
    ])[] = [
      [
        'with an agent of the CSI driver',
        () => ({ ...below('bin', AGENT), ...below('input', INPUT) }),
        () => [bundle.operator, 'bootstrap', ...podArgs(AGENT_ARGS, METADATA_ARGS)],
        true,
      ],
      [
        'with a download',
        () => tenant.input(),
        () => [bundle.operator, 'bootstrap', ...podArgs(AGENT_ARGS, METADATA_ARGS, [`--version=${tenant.version}`])],
        false,
      ],
      [
        'in a code-modules image',
        () => ({ ...below('image', AGENT), ...below('input', INPUT) }),
        () => [bundle.standalone, ...podArgs(AGENT_ARGS)],
        false,
      ],
      [
        'as a Job of the CSI driver',
        () => below('image', AGENT),
        () => [bundle.standalone, '--source=/mnt/image', '--target=/mnt/bin/x', '--work=/mnt/bin/work/job'],
        false,
      ],
      [
        'with metadata only',
        () => below('input', INPUT),
        () => [bundle.operator, 'bootstrap', ...podArgs(METADATA_ARGS)],
        false,
      ],
    ]

    it.each(modes)('%s and started again leaves the same files', async (_, files, command, isReadOnly) => {
      await using container = await initContainer(files())
      const options = { isReadOnly }
      // The shortest of the complete runs: the first is slower, and a machine that was busy then may be idle later.
      let durationMs = Number.POSITIVE_INFINITY
      const runToItsEnd = async (): Promise<void> => {
        const startedAt = performance.now()
        expect((await container.run(command(), options)).code).toBe(0)
        durationMs = Math.min(durationMs, performance.now() - startedAt)
      }
      await runToItsEnd()
      const expected = await result(container)
      const next = random(SEED)
      let killed = 0
      for (let moment = 0; moment < MOMENTS; moment++) {
        await (isReadOnly ? container.clear('config') : container.clear('bin', 'config'))
        const child = container.start(command(), options)
        const ended = once(child, 'exit')
        await pause(next() * durationMs)
        child.kill('SIGKILL')
        const [, signal] = await ended
        if (signal === 'SIGKILL') killed++
        const partial = await result(container)
        expectWhole(partial.config, expected.config)
        expectWhole(partial.bin, expected.bin)
        await runToItsEnd()
        expect(await result(container)).toEqual(expected)
      }
      // Otherwise the moments were after the end, and nothing was tested.
      expect(killed).toBeGreaterThan(MOMENTS / 4)
    })
  },
)
