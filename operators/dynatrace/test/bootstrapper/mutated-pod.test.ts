/** The init container that the webhook renders, executed: every path that the application mounts exists afterwards. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Container } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { initOf, inject } from '../../src/webhooks/pods/testing/build.ts'
import { caseInput, type GoldenCase, goldenCases, titleOf } from '../../src/webhooks/pods/testing/golden-cases.ts'
import { type BootstrapperBundle, bundleBootstrapper } from './support/bootstrapper-bundle.ts'
import { type InitContainer, initContainer, missingIsolation } from './support/init-container.ts'
import { AGENT, INPUT } from './support/pod.ts'
import { type DownloadTenant, downloadTenant } from './support/tenant-volume.ts'

/** What the kubelet puts into arguments. */
const FIELDS: Readonly<Record<string, string>> = {
  'metadata.name': 'shop-0',
  'metadata.uid': '1-2-3',
  'spec.nodeName': 'worker-1',
}

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))

let bundle: BootstrapperBundle
let tenant: DownloadTenant
beforeAll(async () => {
  ;[bundle, tenant] = await Promise.all([bundleBootstrapper(), downloadTenant(1024 ** 2)])
})
afterAll(async () => {
  await bundle[Symbol.asyncDispose]()
  await tenant[Symbol.asyncDispose]()
})

/** One case of every mode and set of features that has an init container. */
function cases(): readonly GoldenCase[] {
  const byKind = new Map(goldenCases().map((of) => [`${of.mode} ${of.features}`, of]))
  return [...byKind.values()].filter((of) => {
    const { input, facts } = caseInput(of)
    return initOf(inject(input, facts)) !== undefined
  })
}

/** Program and arguments, with variables replaced as the kubelet does. */
function commandOf({ args = [], env = [] }: Container): readonly string[] {
  const values = new Map(env.map(({ name, valueFrom }) => [name, FIELDS[valueFrom?.fieldRef?.fieldPath ?? ''] ?? '']))
  const expanded = args
    .map((arg) => arg.replaceAll(/\$\((\w+)\)/g, (_, name: string) => values.get(name) ?? ''))
    // The file system of the image, and the version that the tenant has.
    .map((arg) => (arg.startsWith('--source=') ? '--source=/mnt/image' : arg))
    .map((arg) => (arg.startsWith('--version=') ? `--version=${tenant.version}` : arg))
    .filter((arg) => arg !== '--suppress-error')
  return expanded[0] === 'bootstrap' ? [bundle.operator, ...expanded] : [bundle.standalone, ...expanded]
}

async function volumesOf({ mode }: GoldenCase): Promise<InitContainer> {
  if (mode === 'download') return initContainer(tenant.input())
  return initContainer({ ...below(mode === 'csi' ? 'bin' : 'image', AGENT), ...below('input', INPUT) })
}

const missing = missingIsolation()

describe.skipIf(missing)(`the init container of a mutated pod${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it.each(cases().map((of) => [titleOf(of), of] as const))('prepares it: %s', async (_, of) => {
    const { input, facts } = caseInput(of)
    const injected = inject(input, facts)
    const init = initOf(injected)
    if (init === undefined) throw new Error('there is no init container')
    const mounts = Object.fromEntries((init.volumeMounts ?? []).map((mount) => [mount.name, mount.mountPath]))
    expect(mounts).toMatchObject({ 'dynatrace-config': '/mnt/config', 'dynatrace-input': '/mnt/input' })
    await using container = await volumesOf(of)
    const isReadOnly = init.volumeMounts?.find(({ name }) => name === 'oneagent-bin')?.readOnly ?? false
    expect(await container.run(commandOf(init), { isReadOnly })).toMatchObject({ code: 0 })

    for (const { name, volumeMounts = [] } of injected.pod.spec?.containers ?? []) {
      for (const { subPath = '' } of volumeMounts.filter(({ name: volume }) => volume === 'dynatrace-config')) {
        // A path that is missing would be created by the kubelet, as an empty folder.
        await expect(stat(join(container.config, subPath)), `${name}: ${subPath}`).resolves.toBeDefined()
      }
    }
    if (!('oneagent-bin' in mounts)) return
    const preload = await readFile(join(container.config, 'oneagent/ld.so.preload'), 'utf8')
    const installed = injected.pod.spec?.containers[0]?.volumeMounts?.find(({ name }) => name === 'oneagent-bin')
    expect(preload.startsWith(`${installed?.mountPath}/`)).toBe(true)
    const library = preload.slice(installed?.mountPath.length)
    expect((await stat(join(container.bin, library))).isFile()).toBe(true)
  })
})
